import type { Reply } from "../../http/problem.ts";
import { credentialIdOf, type PasskeySignals, type PasskeySite, passkeysOf, rpIdOf } from "../factors/passkeys.ts";
import type { FactorRecord, LoginRecord } from "../factors/store.ts";
import type { TokenRecord } from "../machine-tokens/store.ts";
import { Html, html, pageReply } from "./html.ts";
import { fact, newPasskeyForm, signalsData, timeOf, timeText } from "./pages.ts";
import type { Texts } from "./texts.ts";
import type { AppInSession } from "./visit.ts";

/** What the page of the account shows. */
export interface Account {
  texts: Texts;
  email: string;
  /** When the session was opened, if it is known, and when it ends, in Unix milliseconds. */
  since: number | null;
  until: number;
  sid: string;
  /** Whether the session is bound to its device. Null where none is. */
  binding: "yes" | "no" | "unproved" | null;
  factors: readonly FactorRecord[];
  recoveryCodesLeft: number;
  tokens: readonly TokenRecord[];
  logins: readonly LoginRecord[];
  apps: readonly AppInSession[];
  site: PasskeySite | null;
  signals: PasskeySignals | null;
  /** The way to the start page from the page: empty, or `../`. */
  root: string;
  /** The login page, also for somebody with a session. */
  loginUrl: string;
  /** Whether the login is recent enough for a change. */
  isFresh: boolean;
  passkeyScript: string | null;
  note?: string | undefined;
}

/** The page of the account: second factors, apps, tokens and recent logins. Only a new passkey needs its script. */
export function accountPage(status: number, account: Account): Reply {
  const { texts, email, since, until, binding, factors, recoveryCodesLeft, root, isFresh, passkeyScript, note } =
    account;
  const words = texts.account;
  const body = html`<h1>${words.title}</h1>
<p><strong>${email}</strong></p>
<dl>
${since === null ? null : fact(texts.since, timeOf(since, texts))}${fact(texts.validUntil, timeOf(until, texts))}${binding && fact(texts.device.bound, texts.device[binding])}</dl>
${note === undefined ? null : html`<div class="note error" role="alert">${note}</div>\n`}<h2>${words.factors}</h2>
${factors.length === 0 ? html`<p>${words.noFactors}</p>\n` : html`<ul>${factors.map((factor) => factorItem(factor, account, words))}</ul>\n`}${isFresh ? null : html`<p class="hint">${words.changesNeedLogin} <a href="${account.loginUrl}">${words.logInAgain}</a></p>\n`}${passkeyForms(account, words)}<a class="button quiet" href="${root}account/totp">${words.addTotp}</a>
${
  factors.length === 0
    ? null
    : html`<p class="hint">${words.codesLeft(recoveryCodesLeft)}</p>
<form method="post" action="${root}account/recovery-codes"><button type="submit" class="quiet">${words.renewCodes}</button></form>\n`
}${account.apps.length === 0 ? null : html`<h2>${words.apps}</h2>\n<ul>${account.apps.map((app) => appItem(app, words))}</ul>\n`}<h2>${words.logins}</h2>
<ul>${account.logins.map((login) => loginItem(login, account, words))}</ul>
<h2>${words.tokens}</h2>
${account.tokens.length === 0 ? html`<p>${words.noTokens}</p>` : html`<ul>${account.tokens.map((token) => tokenItem(token, texts, words))}</ul>`}
<a class="button quiet" href="${root}./">${texts.toStartPage}</a>${signalsData(account.signals)}`;
  const script = passkeyScript === null ? {} : { script: passkeyScript, connects: true };
  return pageReply(status, { lang: texts.lang, title: words.title, body, ...script });
}

function factorItem(factor: FactorRecord, { texts, site, root }: Account, words: Texts["account"]): Html {
  const { id, kind, name, createdAt, lastUsedAt } = factor;
  const isUnusable = passkeysOf([factor], site).unusable.length > 0;
  const used = lastUsedAt === null ? words.neverUsed : timeOf(lastUsedAt, texts);
  return html`
<li><strong>${name}</strong><br>${words.kinds[kind]}<br>${words.addedAt}: ${timeOf(createdAt, texts)}<br>${words.usedAt}: ${used}
${isUnusable ? html`<p class="error note">${words.unusable(rpIdOf(factor))}</p>\n` : null}<form method="post" action="${root}account/remove"${kind === "passkey" ? html` data-removes="${credentialIdOf(factor)}"` : null}><input type="hidden" name="id" value="${id}"><button type="submit" class="quiet small" aria-label="${words.remove}: ${name}">${words.remove}</button></form></li>`;
}

function passkeyForms({ texts, site, root, passkeyScript }: Account, words: Texts["account"]): Html {
  if (site === null) return html`<p class="hint">${words.noPasskeys}</p>\n`;
  if (passkeyScript === null) return html`<p class="hint">${words.passkeyFailed}</p>\n`;
  return newPasskeyForm(texts, { origin: site.origin, path: `${root}account/passkey` });
}

const loginItem = ({ sid, at, network, userAgent, method }: LoginRecord, account: Account, words: Texts["account"]) =>
  html`
<li>${timeOf(at, account.texts)}${sid === account.sid ? html` (${words.thisSession})` : null}<br>${userAgent ?? words.program}, ${network}<br>${words.methods[method]}</li>`;

const appItem = ({ name, ends }: AppInSession, words: Texts["account"]) => html`
<li><strong>${name}</strong><br>${words.appEnds[ends]}</li>`;

const tokenItem = ({ name, scopes, expiresAt }: TokenRecord, texts: Texts, words: Texts["account"]) =>
  html`
<li><strong>${name}</strong><br>${scopes.join(" ")}<br>${expiresAt === null ? words.neverExpires : words.expires(timeText(expiresAt, texts))}</li>`;

/** What the page of a new authenticator app shows. */
interface NewTotp {
  texts: Texts;
  secret: string;
  /** SVG. */
  qrCode: string;
  name: string;
  error?: string;
}

/** The page that adds an authenticator app. It works without script. */
export function totpPage(status: number, { texts, secret, qrCode, name, error }: NewTotp): Reply {
  const words = texts.account;
  const body = html`<h1>${words.addTotp}</h1>
<p>${words.totpHint}</p>
${error === undefined ? null : html`<div class="note error" role="alert" id="error">${error}</div>\n`}<div class="qr">${new Html(qrCode)}</div>
<p>${words.totpSecret}: <code>${secret.replaceAll(/(.{4})(?=.)/g, "$1 ")}</code></p>
<form method="post" action="totp">
<input type="hidden" name="secret" value="${secret}">
<label for="name">${words.name}</label>
<input id="name" name="name" type="text" value="${name}" maxlength="64">
<label for="code">${words.code}</label>
<input id="code" name="code" type="text" inputmode="numeric" autocomplete="one-time-code" maxlength="16" required autofocus${error === undefined ? null : html` aria-describedby="error" aria-invalid="true"`}>
<button type="submit">${words.add}</button>
</form>`;
  return pageReply(status, { lang: texts.lang, title: words.addTotp, body });
}

/** The page that shows new recovery codes, this once. */
export function recoveryCodesPage(texts: Texts, codes: readonly string[]): Reply {
  const words = texts.account;
  const body = html`<h1>${words.codesTitle}</h1>
<p>${words.codesHint}</p>
<ul class="codes">${codes.map((code) => html`<li><code>${code}</code></li>`)}</ul>
<a class="button" href="../account">${words.done}</a>`;
  return pageReply(200, { lang: texts.lang, title: words.codesTitle, body });
}
