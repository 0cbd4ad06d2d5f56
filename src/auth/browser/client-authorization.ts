import type { IncomingMessage } from "node:http";
import type { RequestContext, RequestHandler } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { type AuthorizationRequest, judgeAuthorization, readAuthorization } from "../clients/authorization-request.ts";
import { type Client, mayLogInTo } from "../clients/client.ts";
import type { Authentication, Grants } from "../clients/grants.ts";
import { answerUrl } from "../clients/redirects.ts";
import type { SigningKeys } from "../clients/signing-keys.ts";
import type { ClientStore } from "../clients/store.ts";
import type { Person } from "../people/people.ts";
import { type AccessClaims, isOfForm } from "../token.ts";
import { AGAIN } from "./endpoints.ts";
import { html, pageReply, redirect } from "./html.ts";
import { createRenew, renewedExpiry } from "./renewal.ts";
import { textsFor } from "./texts.ts";
import { type AppOfLogin, type BrowserParts, prefixOf, readOwnForm, sessionOf } from "./visit.ts";

/** What apps log in through. `issuer` is the public address of this service. */
export interface ClientParts {
  clients: readonly Client[];
  grants: Grants;
  keys: SigningKeys;
  store: Pick<ClientStore, "consent" | "setConsent">;
  issuer: string;
  browser: BrowserParts;
}

/** Where apps send browsers to log in. */
export const AUTHORIZE = "/oauth/authorize";

/** The app that has begun a login which leads to a path of this service. */
export function appAt(
  target: string,
  { clients, base }: { clients: readonly Client[]; base: string },
): AppOfLogin | null {
  const [path, query = ""] = target.split("?", 2);
  if (path !== `${base}${AUTHORIZE}`) return null;
  const judged = judgeAuthorization(readAuthorization(query), clients);
  if (judged.to !== "ok") return null;
  const { client, loginHint } = judged.request;
  return { name: client.name, formTarget: formTargetOf(judged.request), loginHint };
}

/** What a policy calls the place of an app. A scheme of its own has no origin, and IPv6 has no form in a policy. */
function formTargetOf({ redirectUri }: AuthorizationRequest): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  return /^https?:$/.test(protocol) && !hostname.startsWith("[") ? origin : protocol;
}

/** The time from which on the login must have been, as this service has put it into the address; null without one. */
const AFTER = "authserve_after";

/** The person whom the hint of the app names, as this service has put it into the address. */
const HINTED = "authserve_user";

/** What decides whether a session is new enough. */
function requiredAfter(
  { prompt, maxAgeSeconds, client }: AuthorizationRequest,
  after: string | null,
  now: number,
): number {
  const asked = /^\d{1,15}$/.test(after ?? "") ? Number(after) : null;
  const isNew = prompt.has("login") || prompt.has("select_account") || maxAgeSeconds === 0;
  const ages = [maxAgeSeconds || null, client.sessionMaxAgeSeconds].filter((age) => age !== null);
  return Math.max(asked ?? (isNew ? now : 0), ...ages.map((age) => now - age * 1000));
}

/** Answers an app with parameters in its redirect URI. */
const answerApp = ({ issuer }: ClientParts, redirectUri: string, answer: Record<string, string | null>): Reply =>
  redirect(answerUrl(redirectUri, { ...answer, iss: issuer }));

type Judged = { request: AuthorizationRequest } | { reply: Reply };

/** Judges the query of an authorization request. */
export function judge(query: string, context: RequestContext, parts: ClientParts): Judged {
  const judged = judgeAuthorization(readAuthorization(query), parts.clients);
  if (judged.to === "ok") return judged;
  const { check } = judged;
  const { requestId, address } = context;
  const reason = judged.to === "refuse-here" ? judged.reason : judged.description;
  parts.browser.log.warn(
    { event: "authorization_refused", requestId, address, check, reason },
    "an app's request to log in was refused",
  );
  if (judged.to === "refuse-here") return { reply: refusedPage(context.request) };
  const { redirectUri, state, error, description } = judged;
  return { reply: answerApp(parts, redirectUri, { error, error_description: description, state }) };
}

function refusedPage({ headers }: IncomingMessage): Reply {
  const texts = textsFor(headers["accept-language"]);
  const { refused, refusedHow } = texts.app;
  const body = html`<h1>${refused}</h1>
<p>${refusedHow}</p>`;
  return pageReply(400, { lang: texts.lang, title: refused, body });
}

const queryTextOf = ({ url = "" }: IncomingMessage) => url.slice(url.indexOf("?") + 1 || url.length);

/** Answers `GET /oauth/authorize`: with the login page, the question about consent, or the app's address and a code. */
export function authorizeHandler(parts: ClientParts): RequestHandler {
  const { browser, store } = parts;
  const grant = createGrant(parts);
  return async (context) => {
    const { request: message } = context;
    const query = queryTextOf(message);
    const judged = judge(query, context, parts);
    if ("reply" in judged) return judged.reply;
    const { request } = judged;
    const { redirectUri, state, client, prompt, scope } = request;
    const found = await findSession(context, query, request, parts);
    if ("reply" in found) return found.reply;
    const { session } = found;
    const known = client.consent === "once" ? await store.consent(session.claims.sub, client.name) : null;
    const isKnown = client.consent === "never" || (known !== null && isWithin(scope, known));
    if (isKnown && !prompt.has("consent")) return grant(request, session);
    if (prompt.has("none")) return answerApp(parts, redirectUri, { error: "consent_required", state });
    return consentPage(message, query, request, session.claims, browser);
  };
}

/** Whether all scopes are among others. */
const isWithin = (scope: string, others: string) => scope.split(" ").every((one) => others.split(" ").includes(one));

/** The session of a browser, and its login. */
interface LoggedIn {
  claims: AccessClaims;
  authentication: Authentication;
}

/** Finds the session of the browser, if the request may have it. Otherwise there is an answer. */
async function findSession(
  context: RequestContext,
  query: string,
  request: AuthorizationRequest,
  parts: ClientParts,
): Promise<{ session: LoggedIn } | { reply: Reply }> {
  const { browser, grants } = parts;
  const { redirectUri, state, prompt } = request;
  const { claims, person } = await sessionOf(context.request, browser);
  const sent = new URLSearchParams(query);
  const hinted = await hintedUser(request, sent, parts);
  const isOther = hinted !== null && hinted !== claims?.sub;
  const authentication = claims === null ? null : await grants.authentication(claims, person);
  const after = requiredAfter(request, sent.get(AFTER), browser.now());
  const isNew = authentication !== null && authentication.authenticatedAt >= after;
  if (claims !== null && isNew && !isOther) {
    if (mayLogInTo(request.client, person)) return { session: { claims, authentication } };
    return { reply: refusePerson(person, context, request, parts) };
  }
  // Somebody else has logged in than the one who was asked for (OpenID Connect Core, 3.1.2.1, id_token_hint).
  const isMissed = isNew && isOther && sent.has(HINTED);
  if (prompt.has("none") || isMissed)
    return { reply: answerApp(parts, redirectUri, { error: "login_required", state }) };
  return { reply: toLoginFor(context.request, query, { isAgain: claims !== null, hinted }, parts) };
}

/** Who a hint says, which may be nobody. Null without a hint. */
async function hintedUser(
  { idTokenHint }: AuthorizationRequest,
  sent: URLSearchParams,
  { keys, issuer }: ClientParts,
): Promise<string | null> {
  if (idTokenHint === null) return sent.get(HINTED);
  return String((await keys.verify(idTokenHint, issuer))?.sub ?? "");
}

/** Answers an app that a person may not log in to. */
function refusePerson(
  { name }: Person,
  { requestId, address }: RequestContext,
  { client, redirectUri, state }: AuthorizationRequest,
  parts: ClientParts,
): Reply {
  const reason = `${name} is not in allow of ${client.name}`;
  const line = { event: "authorization_refused" as const, requestId, address, check: "allow", reason };
  parts.browser.log.warn(line, "a person may not log in to an app");
  return answerApp(parts, redirectUri, { error: "access_denied", state });
}

const isOfLogin = (sent: URLSearchParams) => sent.has(AFTER) || sent.has(HINTED) || sent.has("id_token_hint");

/**
 * Leads to the login page, and from there back to the request. It then takes any login from now on, but if the hint
 * names a person, only that one's.
 */
function toLoginFor(
  request: IncomingMessage,
  query: string,
  { isAgain, hinted }: { isAgain: boolean; hinted: string | null },
  { browser }: ClientParts,
): Reply {
  const prefix = prefixOf(request, browser);
  const rest = query.split("&").filter((one) => !isOfLogin(new URLSearchParams(one)));
  const asked = forUser([...rest, `${AFTER}=${Math.floor(browser.now())}`].join("&"), hinted, browser);
  const back = `${prefix}${AUTHORIZE}?${asked}`;
  return redirect(`${prefix}/login?${isAgain ? `${AGAIN}=app&` : ""}rd=${encodeURIComponent(back)}`);
}

/** A query for this person only, if there are several. */
function forUser(query: string, id: string | null, { people }: BrowserParts): string {
  // Whether there is such a person is not told.
  return id !== null && people.areNamed() ? `${query}&${HINTED}=${encodeURIComponent(id)}` : query;
}

/** Creates what leads back to the app with a code. The session of the browser then lasts for as long as it may. */
function createGrant(parts: ClientParts) {
  const { browser, grants } = parts;
  const renew = createRenew(browser);
  return async (request: AuthorizationRequest, { claims, authentication }: LoggedIn): Promise<Reply> => {
    const code = await grants.code(request, claims, authentication);
    const answer = answerApp(parts, request.redirectUri, { code, state: request.state });
    const now = browser.now() / 1000;
    const isProlonged = isOfForm(claims.sid) && renewedExpiry(claims, browser.lifetimes, now, "app") > claims.exp;
    const cookie = isProlonged ? await renew(claims, now, "app") : null;
    return cookie === null ? answer : { ...answer, headers: { ...answer.headers, "Set-Cookie": cookie } };
  };
}

function consentPage(
  message: IncomingMessage,
  query: string,
  request: AuthorizationRequest,
  { sub, email }: AccessClaims,
  browser: BrowserParts,
): Reply {
  const texts = textsFor(message.headers["accept-language"]);
  const { consent, as, allow, deny } = texts.app;
  const { client } = request;
  const body = html`<h1>${consent} ${client.name}</h1>
<p>${as} <strong>${email}</strong></p>
<form method="post" action="${prefixOf(message, browser)}/oauth/consent">
<input type="hidden" name="request" value="${forUser(query, sub, browser)}">
<button type="submit" name="answer" value="allow" autofocus>${allow}</button>
<button type="submit" name="answer" value="deny" class="quiet">${deny}</button>
</form>`;
  const title = `${consent} ${client.name}`;
  return pageReply(200, { lang: texts.lang, title, body, formTarget: formTargetOf(request) });
}

/** Answers `POST /oauth/consent`. The request is judged anew: the form could have been changed. */
export function consentHandler(parts: ClientParts): RequestHandler {
  const { browser, store } = parts;
  const grant = createGrant(parts);
  return async (context) => {
    const fields = await readOwnForm(context.request, browser);
    const query = fields.get("request") ?? "";
    const judged = judge(query, context, parts);
    if ("reply" in judged) return judged.reply;
    const { request } = judged;
    const { redirectUri, state, client, scope } = request;
    if (fields.get("answer") !== "allow") return answerApp(parts, redirectUri, { error: "access_denied", state });
    const found = await findSession(context, query, request, parts);
    if ("reply" in found) return found.reply;
    const { session } = found;
    if (client.consent === "once") await store.setConsent(session.claims.sub, client.name, scope, browser.now());
    return grant(request, session);
  };
}
