import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError, type ErrorCode } from "../../errors.ts";
import { type Endpoint, type RequestContext, type RequestHandler, reply } from "../../http/endpoint.ts";
import { readForm } from "../../http/fields.ts";
import { isNavigation } from "../../http/headers.ts";
import type { Reply } from "../../http/problem.ts";
import { LoginBody } from "../endpoints.ts";
import type { Supersession } from "../sessions.ts";
import type { AccessClaims } from "../token.ts";
import { canonicalEmail } from "../user.ts";
import { type EndSessionParts, endSessionFormHandler, endSessionPageHandler } from "./end-session.ts";
import { isFromOtherScheme, keepsCookie, reachedOrigin, requireSameSite } from "./guard.ts";
import { redirect } from "./html.ts";
import {
  elsewhereText,
  endedText,
  framedPage,
  homePage,
  loginPage,
  logoutPage,
  refusedTargetPage,
  refusedTargetText,
} from "./pages.ts";
import {
  PASSKEY_REFUSED,
  passkeyFormHandler,
  passkeyOptionsHandler,
  readHomePasskeys,
  readPasskeyScript,
  readUnknownPasskey,
} from "./passkey-step.ts";
import { isOfDomain, type RedirectRules, type Target, withRd } from "./redirect-target.ts";
import { createRenew, isRenewalDue } from "./renewal.ts";
import { beginCodeStep, codeFormHandler, codePageHandler } from "./second-step.ts";
import { type Texts, textsFor } from "./texts.ts";
import {
  type BrowserParts,
  FORM_LIMIT,
  keepIn,
  loggedIn,
  type PasskeyParts,
  prefixOf,
  queryOf,
  refusalOf,
  requesterOf,
  sessionOf,
  targetOf,
  toLogin,
} from "./visit.ts";

/** The query of the login page. */
const RedirectQuery = v.object({
  rd: v.optional(v.pipe(v.string(), v.description("Where the browser goes next."))),
});

const KeepField = {
  keep: v.optional(v.pipe(v.string(), v.description("`1` keeps the login for `KEEP_LOGGED_IN`."))),
};

/** The fields of the login form. Others are ignored. */
const LoginFields = v.object({ ...LoginBody.entries, ...RedirectQuery.entries, ...KeepField });

/** The fields of the second step. */
const CodeFields = v.object({ code: v.string(), ...RedirectQuery.entries, ...KeepField });

/** The media types of pages and of their forms. */
export const HTML = "text/html";
export const FORM = ["application/x-www-form-urlencoded"];

/** The errors of forms. */
export const FORM_PROBLEMS: ErrorCode[] = [
  "cross_site_request",
  "validation_failed",
  "payload_too_large",
  "unsupported_media_type",
];

/** What the endpoints of pages have in common. */
export const PAGE: Pick<Endpoint, "response" | "statuses" | "mediaTypes" | "problems"> = {
  response: v.string(),
  statuses: [200, 303],
  mediaTypes: { 200: HTML },
  problems: ["store_unavailable"],
};

/** The pages for browsers, and their forms. */
export function pageEndpoints(parts: EndSessionParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/",
      summary: "Shows who is logged in, or redirects to the login page.",
      ...PAGE,
      handler: homeHandler(parts),
    },
    {
      method: "GET",
      path: "/login",
      audience: "visitors",
      summary:
        "Shows the login page. While a session lives it redirects to `rd`, and prolongs the session if that is due.",
      query: RedirectQuery,
      ...PAGE,
      handler: loginPageHandler(parts),
    },
    {
      method: "POST",
      path: "/login",
      summary:
        "Logs in with the form fields `email`, `password` and `rd`, sets the cookie and redirects to `rd` or `/`. A refused login is answered with the page, with 400, 401, 429 or 503.",
      request: LoginFields,
      requestTypes: FORM,
      response: v.string(),
      statuses: [303, 400, 401, 429, 503],
      mediaTypes: { 400: HTML, 401: HTML, 429: HTML, 503: HTML },
      problems: FORM_PROBLEMS,
      handler: loginFormHandler(parts),
    },
    {
      method: "GET",
      path: "/login/code",
      summary:
        "Shows the page for the code of a second factor. A browser that has not sent the right password within 5 minutes is redirected to the login page.",
      query: RedirectQuery,
      ...PAGE,
      handler: codePageHandler(parts),
    },
    {
      method: "POST",
      path: "/login/code",
      summary:
        "Finishes a login with the form fields `code` and `rd`: sets the cookie and redirects to `rd` or `/`. A wrong code is answered with the page, with 401, 429 or 503.",
      request: CodeFields,
      requestTypes: FORM,
      response: v.string(),
      statuses: [303, 401, 429, 503],
      mediaTypes: { 401: HTML, 429: HTML, 503: HTML },
      problems: FORM_PROBLEMS,
      handler: codeFormHandler(parts),
    },
    ...(parts.passkeys === null ? [] : passkeyEndpoints(parts, parts.passkeys)),
    {
      method: "GET",
      path: "/login/end",
      summary: "Shows a button that ends the session of the link, which an alert of a login from a new network has.",
      query: v.object({ sid: v.string(), key: v.string() }),
      ...PAGE,
      handler: endSessionPageHandler(parts),
    },
    {
      method: "POST",
      path: "/login/end",
      summary: "Ends the session of the link, without a login. A later session stays.",
      request: v.object({ sid: v.string(), key: v.string() }),
      requestTypes: FORM,
      response: v.string(),
      statuses: [200, 303],
      mediaTypes: { 200: HTML },
      problems: [...FORM_PROBLEMS, "store_unavailable"],
      handler: endSessionFormHandler(parts),
    },
    {
      method: "GET",
      path: "/logout",
      summary: "Shows a button to log out. Without a session it redirects to `rd`, or to the login page.",
      query: RedirectQuery,
      ...PAGE,
      handler: logoutPageHandler(parts),
    },
    {
      method: "POST",
      path: "/logout",
      summary: "Ends the session of the cookie, removes the cookie and redirects to `rd`, or to the login page.",
      request: v.object(RedirectQuery.entries),
      requestTypes: FORM,
      response: v.string(),
      statuses: [303],
      problems: [...FORM_PROBLEMS, "store_unavailable"],
      handler: logoutFormHandler(parts),
    },
    {
      method: "GET",
      path: "/login/renew",
      summary:
        "Prolongs the session of the cookie, and redirects to `rd`. `/auth/verify` sends browsers here. If `rd` is refused, a page tells it.",
      query: RedirectQuery,
      ...PAGE,
      handler: renewSessionHandler(parts),
      quiet: true,
    },
  ];
}

/** What a browser needs for a login with a passkey, as WebAuthn calls it. */
const PasskeyOptions = v.object({
  challenge: v.string(),
  rpId: v.string(),
  timeout: v.number(),
  userVerification: v.literal("required"),
  allowCredentials: v.array(v.never()),
});

/** The fields of a login with a passkey. */
const PasskeyFields = v.object({
  answer: v.pipe(v.string(), v.description("What the browser has signed, as JSON.")),
  ...RedirectQuery.entries,
  ...KeepField,
});

function passkeyEndpoints(parts: BrowserParts, passkeys: PasskeyParts): Endpoint[] {
  return [
    {
      method: "GET",
      path: "/login/passkey",
      summary: "Begins a login with a passkey: returns a new challenge, and keeps it in a cookie for 5 minutes.",
      response: PasskeyOptions,
      handler: passkeyOptionsHandler(parts, passkeys),
      quiet: true,
    },
    {
      method: "POST",
      path: "/login/passkey",
      summary:
        "Logs in with the form fields `answer` and `rd`: sets the cookie and redirects to `rd` or `/`. If the passkey is refused, it redirects to the login page.",
      request: PasskeyFields,
      requestTypes: FORM,
      response: v.string(),
      statuses: [303],
      problems: [...FORM_PROBLEMS, "store_unavailable"],
      handler: passkeyFormHandler(parts, passkeys),
    },
    {
      method: "GET",
      path: "/.well-known/webauthn",
      // Browsers ask under the name of the RP ID, which may be an earlier one (WebAuthn level 3, 5.11).
      audience: "senders",
      summary: "Names the origins whose pages may use the passkeys of this host (related origins of WebAuthn).",
      response: v.object({ origins: v.array(v.string()) }),
      handler: () => reply(200, { origins: passkeys.origins }),
    },
  ];
}

/** Answers `GET /login` with the login page, or with a redirect to `rd` while a session lives. */
function loginPageHandler(parts: BrowserParts): RequestHandler {
  const { rules, trustedProxies, isToKnownHost } = parts;
  const leadOn = createLeadOn(parts);
  return async (context) => {
    const { request } = context;
    const texts = textsFor(request.headers["accept-language"]);
    const query = queryOf(request);
    const rd = query.get("rd");
    // A proxy may write another Host than the browser, so the browser is sent to the right address only once.
    const mayMove = !query.has(MOVED) && isNavigation(request);
    // Under a name that is not known, only this page answers.
    if (mayMove && !isToKnownHost(request)) return redirect(ownLoginUrl(rules, rd, true));
    const target = targetOf(rd, context, parts);
    const { claims, ended } = await sessionOf(request, parts);
    const isAgain = query.has(AGAIN);
    const isRefused = query.has(PASSKEY_REFUSED);
    // Some proxies send every page here that `/auth/verify` sends to the renewal.
    const led = claims && !isAgain && !isRefused ? await leadOn(claims, target, request) : null;
    if (led !== null) return led;
    if (mayMove && !keepsCookie(reachedOrigin(request, trustedProxies, rules), rules))
      return redirect(ownLoginUrl(rules, rd, true));
    if (isFramed(request)) return framedPage(texts, ownLoginUrl(rules, rd, false), texts.login, framersOf(rules));
    const isSkipped = hasSkipped(request);
    const notes = notesOf(texts, { ended, isSkipped, target, again: query.get(AGAIN), isRefused });
    const passkeyScript = await readPasskeyScript(parts);
    const unknownPasskey = await readUnknownPasskey(parts, query.get(PASSKEY_REFUSED));
    const keep = keepIn(query, parts);
    const page = { texts, target: target.url, origin: rules.origin, notes, passkeyScript, unknownPasskey, keep };
    const ends = claims === null ? await endsText(request, texts, parts) : texts.oneSession;
    const headers = reportUnproved(context, ended, parts);
    return loginPage(200, { ...page, app: parts.appAt(target.url), ends }, headers);
  };
}

/** What a login will end. A browser that has never logged in learns nothing of the session. */
async function endsText(
  request: IncomingMessage,
  texts: Texts,
  { marks, markCookie, sessions, people, appsIn }: BrowserParts,
): Promise<string> {
  // Of several people, it is not known who will log in.
  if (people.areNamed()) return texts.oneSession;
  try {
    const mark = await marks.read(markCookie.read(request));
    if (mark === null) return texts.oneSession;
    const { sid, origin } = (await sessions.find(mark.person.id)) ?? {};
    if (sid === undefined || !origin) return texts.oneSession;
    const ends = texts.endsSession(origin.userAgent ?? texts.account.program, origin.network);
    const apps = (await appsIn(sid)).map(({ name }) => name);
    return apps.length === 0 ? ends : `${ends} ${texts.withApps(apps.join(", "))}`;
  } catch {
    // The store does not answer: the page is shown without it.
    return texts.oneSession;
  }
}

/** Whether a browser says that it could not prove its device this time. */
const hasSkipped = ({ headers }: IncomingMessage) => headers["secure-session-skipped"] !== undefined;

/** How long a browser is not asked again that has not proved its device, unless it does so later. */
const UNPROVED_SECONDS = 86_400;

/** Logs that a browser has the cookie of a session, and not its device. Returns the headers that mark the browser. */
function reportUnproved(
  { request, requestId, address }: RequestContext,
  ended: AppError | undefined,
  { log, device }: BrowserParts,
): Record<string, string> {
  if (ended?.code !== "device_not_proved" || device === null) return {};
  const skipped = request.headers["secure-session-skipped"] ?? null;
  const message = "a browser has the cookie of a session, and does not prove the device that it is bound to";
  log.warn(
    { event: "device_not_proved", requestId, address, skipped: skipped && String(skipped).slice(0, 200) },
    message,
  );
  return { "Set-Cookie": device.unprovedCookie.set("1", UNPROVED_SECONDS) };
}

/** What the login page says before its form. */
function notesOf(
  texts: Texts,
  why: { ended: AppError | undefined; isSkipped: boolean; target: Target; again: string | null; isRefused: boolean },
): string[] {
  const unproved = why.isSkipped ? texts.device.skipped : texts.device.notProved;
  return [
    ...(why.ended?.code === "device_not_proved" ? [unproved] : []),
    ...(why.ended?.code === "session_invalidated" ? [endedText(texts, supersessionIn(why.ended))] : []),
    ...(why.target.refused ? [refusedTargetText(texts, why.target.refused)] : []),
    ...(why.again === null ? [] : [why.again === "app" ? texts.app.again : texts.logInAgain]),
    ...(why.isRefused ? [texts.passkey.refused] : []),
  ];
}

/** Whether a page is opened in a frame of another one. */
const isFramed = ({ headers }: IncomingMessage) =>
  ["iframe", "frame", "embed", "object"].includes(String(headers["sec-fetch-dest"]));

/** The apps whose pages may show a page of this service in a frame, as sources of a content security policy. */
function framersOf({ origin, allowedOrigins, cookieDomain }: RedirectRules): string[] {
  const ofDomain = cookieDomain === undefined ? [] : [`https://${cookieDomain}:*`, `https://*.${cookieDomain}:*`];
  return [origin, ...allowedOrigins, ...ofDomain];
}

/** Marks the address of the login page to which a browser was sent from another address. */
const MOVED = "moved";

/** Marks the address of a login page that opens although a session lives. */
export const AGAIN = "again";

/** The login page at the address of this service, where browsers keep the cookie. */
function ownLoginUrl({ origin, base }: RedirectRules, rd: string | null, isMoved: boolean): string {
  const query = new URLSearchParams({ ...(rd === null ? {} : { rd }), ...(isMoved ? { [MOVED]: "1" } : {}) });
  return `${origin}${base}/login${query.size === 0 ? "" : `?${query}`}`;
}

/**
 * Creates a function that leads a user with a live session to the target, and prolongs the session if that is due.
 * Returns null if the session has ended.
 */
function createLeadOn(parts: BrowserParts) {
  const { sessions, lifetimes, now } = parts;
  const renew = createRenew(parts);
  return async (claims: AccessClaims, target: Target, request: IncomingMessage): Promise<Reply | null> => {
    const texts = textsFor(request.headers["accept-language"]);
    const prefix = prefixOf(request, parts);
    const at = now() / 1000;
    if (!(await isRenewalDue(claims, lifetimes, sessions, at, "page"))) return leadTo(target, texts, prefix);
    const renewed = await renew(claims, at, "page");
    return renewed === null ? null : leadTo(target, texts, prefix, { "Set-Cookie": renewed });
  };
}

/** Leads a user with a session to the target. If it was refused, a page tells it. */
function leadTo({ url, refused }: Target, texts: Texts, prefix: string, headers: Reply["headers"] = {}): Reply {
  return refused ? refusedTargetPage(texts, refused, `${prefix}/`, headers) : redirect(url, headers);
}

/**
 * Answers `POST /login`: logs in with the fields `email` and `password`, sets the cookies and redirects to `rd`. A
 * refused login is answered with the page and the reason.
 */
function loginFormHandler(parts: BrowserParts): RequestHandler {
  const { login, rules } = parts;
  return async (context) => {
    const { request, requestId, address } = context;
    const from = request.headers.origin;
    // Without the cookie the login would only end the session elsewhere. "null" hides the address.
    const isElsewhere = from !== undefined && from !== "null" && !keepsCookie(from, rules);
    // Such a page of this service is told where to go, and nothing else is done.
    if (!isElsewhere || !isFromOtherScheme(request)) requireSameSite(request, [], rules.origin);
    const texts = textsFor(request.headers["accept-language"]);
    const fields = await readForm(request, FORM_LIMIT);
    const { url: target } = targetOf(fields.get("rd") ?? null, context, parts);
    const email = fields.get("email") ?? "";
    const passkeyScript = await readPasskeyScript(parts);
    const page = {
      texts,
      target,
      origin: rules.origin,
      email,
      passkeyScript,
      keep: keepIn(fields, parts),
      app: parts.appAt(target),
    };
    if (isElsewhere) {
      const message = `a login under ${from} was refused, because a browser keeps no cookie there: open ${rules.origin}${rules.base}/login`;
      parts.log.warn({ event: "login_elsewhere", requestId, address, origin: from }, message);
      return loginPage(400, {
        ...page,
        areFieldsWrong: false,
        error: elsewhereText(texts, ownLoginUrl(rules, fields.get("rd") ?? null, false)),
      });
    }
    const { success, output } = v.safeParse(LoginBody, { email, password: fields.get("password") });
    if (!success) return loginPage(400, { ...page, error: texts.errors.validation_failed });
    try {
      const requester = await requesterOf(context, parts, fields);
      const { accessToken } = await login(output, requester);
      return loggedIn(accessToken, target, request, requester, parts);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const person = parts.people.byEmail(canonicalEmail(email));
      if (error.code === "second_factor_required" && person !== null)
        return beginCodeStep(request, parts, person, target, fields);
      const { status, text, headers } = refusalOf(error, texts);
      return loginPage(status, { ...page, error: text }, headers);
    }
  };
}

/** Answers `GET /logout`, the link of an app, with a page that has the button to log out. */
function logoutPageHandler(parts: BrowserParts): RequestHandler {
  const { rules } = parts;
  return async (context) => {
    const { request } = context;
    const texts = textsFor(request.headers["accept-language"]);
    const rd = queryOf(request).get("rd");
    if (isFramed(request)) {
      const url = withRd(`${rules.origin}${rules.base}/logout`, rd);
      return framedPage(texts, url, texts.logOut, framersOf(rules));
    }
    const { claims } = await sessionOf(request, parts);
    const target = afterLogout(rd, context, parts);
    if (claims) return logoutPage(texts, claims.email, target);
    return target === null ? toLogin(request, parts) : redirect(target);
  };
}

/** Where a browser goes after a logout. Null, for the login page, if `rd` is missing or not allowed. */
function afterLogout(rd: string | null, context: RequestContext, parts: BrowserParts): string | null {
  const target = rd === null ? null : targetOf(rd, context, parts);
  return target?.refused === null ? target.url : null;
}

/**
 * Answers `POST /logout`: ends the session of the cookie, removes the cookie and redirects to `rd`, or to the login
 * page. Forms of apps within the domain of the cookie may send it.
 */
function logoutFormHandler(parts: BrowserParts): RequestHandler {
  const { sessions, cookie, rules, log } = parts;
  return async (context) => {
    const { request, requestId, address } = context;
    const from = request.headers.origin;
    const sender = from === undefined ? null : URL.parse(from);
    const isOfApp = sender !== null && sender.origin === from && isOfDomain(sender, rules);
    requireSameSite(request, isOfApp ? [sender.origin] : [], rules.origin);
    const fields = await readForm(request, FORM_LIMIT);
    const { claims } = await sessionOf(request, parts);
    if (claims && (await sessions.removeIf(claims.sub, claims.sid)))
      log.info({ event: "session_ended", requestId, address, userId: claims.sub }, "logged out");
    const target = afterLogout(fields.get("rd") ?? null, context, parts) ?? `${prefixOf(request, parts)}/login`;
    return redirect(target, { "Set-Cookie": cookie.clear() });
  };
}

/**
 * Answers `GET /login/renew`: prolongs a live session if that is due, and redirects to `rd`. A session that has ended
 * leads to the login page.
 */
function renewSessionHandler(parts: BrowserParts): RequestHandler {
  const leadOn = createLeadOn(parts);
  return async (context) => {
    const { request } = context;
    const rd = queryOf(request).get("rd");
    const { claims } = await sessionOf(request, parts);
    const led = claims === null ? null : await leadOn(claims, targetOf(rd, context, parts), request);
    return led ?? toLogin(request, parts, rd);
  };
}

/** Answers `GET /` with the page of the session, or with a redirect to the login page. */
function homeHandler(parts: BrowserParts): RequestHandler {
  const { sessions, hasAdmin } = parts;
  return async ({ request }) => {
    const texts = textsFor(request.headers["accept-language"]);
    const session = await sessionOf(request, parts);
    const { claims, person } = session;
    if (claims === null) return toLogin(request, parts);
    const record = await sessions.find(claims.sub);
    const loggedInFrom = record?.sid === claims.sid ? record.origin : null;
    const since = claims.iat === undefined ? null : claims.iat * 1000;
    const passkeys = await readHomePasskeys(parts, session);
    const until = claims.exp * 1000;
    const isAdmin = hasAdmin && person.isOwner;
    return homePage(texts, { email: claims.email, since, until, loggedInFrom, hasAdmin: isAdmin, passkeys });
  };
}

/** The supersession that a `session_invalidated` names. */
function supersessionIn({ members }: AppError): Supersession | null {
  if (!members) return null;
  const { supersededAt, supersededBy } = members as { supersededAt: string; supersededBy: Supersession["by"] };
  return { at: Date.parse(supersededAt), by: supersededBy };
}
