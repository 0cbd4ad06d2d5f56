import type { Reply } from "../../http/problem.ts";
import type { PasskeySignals } from "../factors/passkeys.ts";
import type { LoginOrigin, Supersession } from "../sessions.ts";
import { type Html, html, pageReply } from "./html.ts";
import type { RefusedTarget } from "./redirect-target.ts";
import type { Texts } from "./texts.ts";
import type { AppOfLogin } from "./visit.ts";

/** What the login page shows besides its form. */
interface LoginPage {
  texts: Texts;
  /** Where the login leads to. */
  target: string;
  /** The origin of this service. */
  origin: string;
  /** The e-mail of a login that was refused. */
  email?: string;
  /** Why a login was refused. */
  error?: string | Html;
  /** Whether what the fields hold may be the reason; by default with status 400 and 401. */
  areFieldsWrong?: boolean;
  /** What happened before. Each has a line that sums it up, and lines about it. */
  notes?: readonly string[];
  /** The script of passkeys, if a passkey may be used. */
  passkeyScript?: string | null;
  /** The passkey that was refused, if it was removed. */
  unknownPasskey?: UnknownPasskey | null;
  /** Whether the login is to be kept. Null where that is not offered. */
  keep: boolean | null;
  /** The app that the login is for. */
  app: AppOfLogin | null;
  /** What the login will end. */
  ends?: string;
}

// The server does not see the part of a URL after `#`. A browser keeps it on the way to this page, and drops it when
// the form is sent.
const KEEP_FRAGMENT = `{
const { rd } = document.forms[0].elements;
const whole = rd.value + location.hash.replaceAll("\\\\", "%5C");
if (!rd.value.includes("#") && whole.length <= 4096) rd.value = whole;
}`;

/** The login page. It works without script and with password managers. */
export function loginPage(
  status: number,
  {
    texts,
    target,
    origin,
    app,
    email = app?.loginHint ?? "",
    error,
    areFieldsWrong = status === 400 || status === 401,
    notes = [],
    passkeyScript = null,
    unknownPasskey = null,
    keep,
    ends = texts.oneSession,
  }: LoginPage,
  headers: Reply["headers"] = {},
): Reply {
  const targetUrl = new URL(target, origin);
  const isElsewhere = targetUrl.origin !== origin;
  const describedBy = error === undefined ? null : html` aria-describedby="error"`;
  const invalid = areFieldsWrong ? html` aria-invalid="true"` : null;
  const [focusEmail, focusPassword] = email === "" ? [html` autofocus`, null] : [null, html` autofocus`];
  const body = html`<h1>${texts.login}</h1>
${isElsewhere || app ? html`<p>${texts.continueTo} <strong>${app?.name ?? targetUrl.host}</strong></p>\n` : null}${notes.map(noteOf)}${error === undefined ? null : html`<div class="note error" role="alert" id="error">${error}</div>\n`}<form method="post" action="login">
<input type="hidden" name="rd" value="${target}">
<label for="email">${texts.email}</label>
<input id="email" name="email" type="email" value="${email}" autocomplete="username" autocapitalize="none" spellcheck="false" inputmode="email" maxlength="254" required${focusEmail}${describedBy}${invalid}>
<label for="password">${texts.password}</label>
<input id="password" name="password" type="password" autocomplete="current-password" maxlength="1024" required${focusPassword}${describedBy}${invalid}>
${
  keep === null
    ? null
    : html`<label class="check"><input name="keep" type="checkbox" value="1"${keep ? html` checked` : null}> ${texts.keep}</label>
`
}<button type="submit">${texts.logIn}</button>
</form>
${passkeyScript === null ? null : passkeyLoginForm(texts, "login/passkey", { target, origin, keep })}<p class="hint">${ends}</p>${signalsData(unknownPasskey)}`;
  const formTarget = isElsewhere ? targetUrl.origin : (app?.formTarget ?? null);
  const script = passkeyScript === null ? KEEP_FRAGMENT : `${KEEP_FRAGMENT}\n${passkeyScript}`;
  const page = { lang: texts.lang, title: texts.login, body, formTarget, script, connects: passkeyScript !== null };
  return pageReply(status, page, headers);
}

/** The form that logs in with a passkey. Its script shows it in browsers that have passkeys, at the right address. */
function passkeyLoginForm(
  { passkey }: Texts,
  path: string,
  { target, origin, keep }: Pick<LoginPage, "target" | "origin" | "keep">,
): Html {
  return html`<form method="post" action="${path}" data-kind="login" data-origin="${origin}" data-options="${path}" data-cancelled="${passkey.cancelled}" data-failed="${passkey.failed}" hidden>
<input type="hidden" name="rd" value="${target}">
<input type="hidden" name="answer">
${keepField(keep)}<button type="submit" class="quiet">${passkey.logIn}</button>
<p class="note error" role="alert" hidden></p>
</form>
`;
}

/** What the form of a new passkey differs in. */
interface NewPasskeyForm {
  origin: string;
  /** Where it is sent, and where the script gets what the browser needs. */
  path: string;
  /** The time of a login: the form asks whether to add one, once in each browser. */
  offer?: number | null;
  /** The key of an invitation, which is sent with it. */
  key?: string | null;
  /** What it says if the passkey cannot be made. */
  failed?: string;
}

/** The form of a new passkey. Its script shows it in browsers that have passkeys, at the right address. */
export function newPasskeyForm(
  { account: words }: Texts,
  { origin, path, offer = null, key = null, failed = words.passkeyFailed }: NewPasskeyForm,
): Html {
  const options = key === null ? path : `${path}?${new URLSearchParams({ key })}`;
  const [more, name, no] =
    offer === null
      ? [
          null,
          html`<label for="passkey-name">${words.name}</label>\n<input id="passkey-name" name="name" type="text"`,
          null,
        ]
      : [
          html` data-offer="${String(offer)}"`,
          html`<div class="note">${words.passkeyOffer}</div>\n<input name="name" type="hidden"`,
          html`<button type="button" class="quiet">${words.noPasskey}</button>\n`,
        ];
  return html`<form method="post" action="${path}" data-kind="new" data-origin="${origin}" data-options="${options}"${more} data-cancelled="${words.passkeyCancelled}" data-known="${words.passkeyKnown}" data-failed="${failed}" hidden>
<input type="hidden" name="answer">
${key === null ? null : html`<input type="hidden" name="key" value="${key}">\n`}${name} value="${words.passkeyName}" maxlength="64">
<button type="submit">${words.addPasskey}</button>
${no}<p class="note error" role="alert" hidden></p>
</form>
`;
}

/** What the script tells the password manager of a browser about passkeys. */
export const signalsData = (signals: PasskeySignals | UnknownPasskey | null | undefined): Html | null =>
  signals ? html`\n<div data-signals="${JSON.stringify(signals)}" hidden></div>` : null;

/** A passkey that was used, and is none any more. */
export interface UnknownPasskey {
  rpId: string;
  unknown: string;
}

/** The choice to stay logged in, in a form that does not ask for it. */
const keepField = (keep: boolean | null): Html | null =>
  keep === null ? null : html`<input type="hidden" name="keep" value="${keep ? "1" : ""}">\n`;

/** What the page for the code of a second factor shows. */
interface CodePage
  extends Pick<LoginPage, "texts" | "target" | "origin" | "error" | "passkeyScript" | "keep" | "app"> {}

/** The page for the code. It works without script. */
export function codePage(
  status: number,
  { texts, target, origin, error, passkeyScript = null, keep, app }: CodePage,
  headers: Reply["headers"] = {},
): Reply {
  const { title, label, hint, startAgain } = texts.code;
  const { origin: targetOrigin } = new URL(target, origin);
  const invalid = status === 401 ? html` aria-invalid="true"` : null;
  const describedBy = error === undefined ? "hint" : "error hint";
  const body = html`<h1>${title}</h1>
${error === undefined ? null : html`<div class="note error" role="alert" id="error">${error}</div>\n`}<form method="post" action="code">
<input type="hidden" name="rd" value="${target}">
${keepField(keep)}<label for="code">${label}</label>
<input id="code" name="code" type="text" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" maxlength="64" required autofocus aria-describedby="${describedBy}"${invalid}>
<p class="hint" id="hint">${hint}</p>
<button type="submit">${texts.logIn}</button>
</form>
${passkeyScript === null ? null : passkeyLoginForm(texts, "passkey", { target, origin, keep })}<p class="hint"><a href="../login?rd=${encodeURIComponent(target)}">${startAgain}</a></p>`;
  const formTarget = targetOrigin === origin ? (app?.formTarget ?? null) : targetOrigin;
  const script = passkeyScript === null ? {} : { script: passkeyScript, connects: true };
  return pageReply(status, { lang: texts.lang, title, body, formTarget, ...script }, headers);
}

function noteOf(note: string): Html {
  const [summary = "", ...lines] = note.split("\n");
  return html`<div class="note"><strong>${summary}</strong>${lines.map((line) => html`<p role="status">${line}</p>`)}</div>\n`;
}

/** Why the login leads to the start page. */
export const refusedTargetText = (texts: Texts, { origin }: RefusedTarget): string =>
  origin === null ? texts.refusedAddress : texts.refusedOrigin(origin);

/** Why a login is refused under an address where the browser would not keep the cookie. */
export function elsewhereText({ errors }: Texts, url: string): Html {
  const [before = "", after = ""] = errors.elsewhere("\0").split("\0");
  return html`${before}<a href="${url}">${new URL(url).origin}</a>${after}`;
}

/** The page of a live session whose `rd` is refused. */
export function refusedTargetPage(
  texts: Texts,
  refused: RefusedTarget,
  home: string,
  headers: Reply["headers"],
): Reply {
  const body = html`<h1>${texts.loggedIn}</h1>
${noteOf(refusedTargetText(texts, refused))}<a class="button" href="${home}">${texts.toStartPage}</a>`;
  return pageReply(200, { lang: texts.lang, title: texts.loggedIn, body }, headers);
}

/**
 * A page for a frame: a link that opens the address in the whole window. Nothing of it is worth a click that was not
 * meant.
 */
export function framedPage(texts: Texts, url: string, title: string, frameAncestors: readonly string[]): Reply {
  const body = html`<h1>${title}</h1>
<a class="button" href="${url}" target="_top">${texts.openInWindow}</a>`;
  return pageReply(200, { lang: texts.lang, title, body, frameAncestors });
}

/** The page of a link to log out: a button, because a link alone could be followed without a click. */
export function logoutPage(texts: Texts, email: string, target: string | null): Reply {
  const body = html`<h1>${texts.logOut}</h1>
<p><strong>${email}</strong></p>
${logoutForm(texts, target)}`;
  const formTarget = target === null ? null : (URL.parse(target)?.origin ?? null);
  return pageReply(200, { lang: texts.lang, title: texts.logOut, body, formTarget });
}

/** The page of the link of an alert: a button, or what the button has done. */
export function endSessionPage(texts: Texts, link: { sid: string; key: string } | null): Reply {
  const { title, hint, button, ended } = texts.endSession;
  const body =
    link === null
      ? html`<h1>${title}</h1>
<p>${ended}</p>`
      : html`<h1>${title}</h1>
<p>${hint}</p>
<form method="post" action="end">
<input type="hidden" name="sid" value="${link.sid}">
<input type="hidden" name="key" value="${link.key}">
<button type="submit">${button}</button>
</form>`;
  return pageReply(200, { lang: texts.lang, title, body });
}

/** The page for a session that is not bound to a device, where an app needs that. It may still be on its way. */
export function unboundPage(texts: Texts, loginUrl: string, isWaiting: boolean): Reply {
  const { title, waiting, notOffered } = texts.device;
  const body = html`<h1>${title}</h1>
<p role="status">${isWaiting ? waiting : notOffered}</p>
${isWaiting ? null : html`<a class="button" href="${loginUrl}">${texts.logIn}</a>`}`;
  return pageReply(200, { lang: texts.lang, title, body }, isWaiting ? { Refresh: "1" } : {});
}

const logoutForm = (texts: Texts, target: string | null = null) => html`<form method="post" action="logout">
${target === null ? null : html`<input type="hidden" name="rd" value="${target}">\n`}<button type="submit" class="quiet">${texts.logOut}</button>
</form>`;

/** Who is logged in. Times are Unix milliseconds. */
interface SignedIn {
  email: string;
  since: number | null;
  until: number;
  loggedInFrom: LoginOrigin | null;
  /** Whether there is the admin page. */
  hasAdmin: boolean;
  passkeys: HomePasskeys | null;
}

/** What the page of a session does with passkeys. */
export interface HomePasskeys {
  script: string;
  signals: PasskeySignals;
  origin: string;
  /** The time of the login after which a passkey is offered. Null: none is. */
  offer: number | null;
}

/** The page of a live session: who, since when, from where, and a button to log out. */
export function homePage(texts: Texts, signedIn: SignedIn): Reply {
  const { email, since, until, loggedInFrom, hasAdmin, passkeys } = signedIn;
  const facts: Html[] = [];
  if (since !== null) facts.push(fact(texts.since, timeOf(since, texts)));
  if (typeof loggedInFrom?.userAgent === "string") facts.push(fact(texts.browser, loggedInFrom.userAgent));
  if (loggedInFrom !== null) facts.push(fact(texts.network, loggedInFrom.network));
  facts.push(fact(texts.validUntil, timeOf(until, texts)));
  const body = html`<h1>${texts.loggedIn}</h1>
<p><strong>${email}</strong></p>
<dl>
${facts}</dl>
${passkeys === null || passkeys.offer === null ? null : newPasskeyForm(texts, { ...passkeys, path: "account/passkey" })}<a class="button quiet" href="account">${texts.toAccount}</a>
${hasAdmin ? html`<a class="button" href="admin/">${texts.toAdminPage}</a>\n` : null}<p class="hint">${texts.endsElsewhere}</p>
${logoutForm(texts)}${signalsData(passkeys?.signals)}`;
  const script = passkeys === null ? {} : { script: passkeys.script, connects: true };
  return pageReply(200, { lang: texts.lang, title: texts.loggedIn, body, ...script });
}

/** A line of a list of facts. */
export const fact = (name: string, value: string | Html) => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`;

/** Tells what ended a session. */
export function endedText(texts: Texts, supersession: Supersession | null): string {
  if (supersession === null) return texts.ended;
  const { at, by } = supersession;
  return texts.superseded(by.userAgent ?? texts.account.program, by.network, timeText(at, texts));
}

/** A time on a page. */
export const timeOf = (ms: number, texts: Texts) =>
  html`<time datetime="${new Date(ms).toISOString()}">${timeText(ms, texts)}</time>`;

/** A time in UTC: the server does not know the time zone of the reader. */
export function timeText(ms: number, { locale }: Texts): string {
  const format = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" });
  return `${format.format(ms)} UTC`;
}
