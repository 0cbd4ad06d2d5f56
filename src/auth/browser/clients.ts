import type { IncomingMessage } from "node:http";
import * as v from "valibot";
import { AppError } from "../../errors.ts";
import { readRawBody } from "../../http/body.ts";
import type { Endpoint, RequestContext, RequestHandler } from "../../http/endpoint.ts";
import type { Reply } from "../../http/problem.ts";
import { requireMediaType } from "../../lib/body-headers.ts";
import { headerValues } from "../../lib/header-value.ts";
import { type AuthorizationRequest, judgeAuthorization, readAuthorization } from "../clients/authorization-request.ts";
import { claimsOf, clientSid } from "../clients/claims.ts";
import { type Client, SCOPES } from "../clients/client.ts";
import { authenticateClient } from "../clients/client-authentication.ts";
import type { Authentication, Grants } from "../clients/grants.ts";
import { KEYS_MAX_AGE_SECONDS } from "../clients/key-rotation.ts";
import { readParameters, type SentParameters } from "../clients/parameters.ts";
import { answerUrl } from "../clients/redirects.ts";
import type { SigningKeys } from "../clients/signing-keys.ts";
import type { ClientStore } from "../clients/store.ts";
import { type TokenError, tokenError } from "../clients/token-errors.ts";
import { type AccessClaims, isOfForm } from "../token.ts";
import type { User } from "../user.ts";
import { AGAIN, FORM, FORM_PROBLEMS, HTML, PAGE } from "./endpoints.ts";
import { html, pageReply, redirect } from "./html.ts";
import { createRenew, renewedExpiry } from "./renewal.ts";
import { textsFor } from "./texts.ts";
import { type AppOfLogin, type BrowserParts, prefixOf, queryOf, readOwnForm, sessionOf } from "./visit.ts";

/** What apps log in through. `issuer` is the public address of this service. */
export interface ClientParts {
  clients: readonly Client[];
  grants: Grants;
  keys: SigningKeys;
  store: Pick<ClientStore, "consent" | "setConsent">;
  user: User;
  issuer: string;
  browser: BrowserParts;
}

const AUTHORIZE = "/oauth/authorize";
const LOGOUT = "/oauth/logout";
const BODY_LIMIT = 32 * 1024;

const JSON_OBJECT = v.record(v.string(), v.unknown());

/** The endpoints of apps that log in through this service, by OpenID Connect. There are none without clients. */
export function clientEndpoints(parts: ClientParts): Endpoint[] {
  if (parts.clients.length === 0) return [];
  const program = { audience: "senders" as const, response: JSON_OBJECT, problems: ["store_unavailable" as const] };
  const posted = {
    ...program,
    method: "POST" as const,
    request: JSON_OBJECT,
    requestTypes: FORM,
    statuses: [200, 400, 401],
  };
  const userinfo = { ...program, statuses: [200, 401], handler: userInfoHandler(parts) };
  return [
    {
      method: "GET",
      path: AUTHORIZE,
      summary: "Leads a browser from an app to the login, and back to the app with a code (OpenID Connect).",
      ...PAGE,
      statuses: [200, 303, 400],
      mediaTypes: { 200: HTML, 400: HTML },
      handler: authorizeHandler(parts),
    },
    {
      method: "POST",
      path: AUTHORIZE,
      summary: "Leads a browser to `GET /oauth/authorize` with the same parameters.",
      response: v.string(),
      statuses: [303, 400],
      mediaTypes: { 400: HTML },
      problems: ["payload_too_large", "unsupported_media_type"],
      async handler(context) {
        const { request } = context;
        const text = await readUrlEncoded(request);
        const judged = judge(text, context, parts);
        if ("reply" in judged) return judged.reply;
        return redirect(`${prefixOf(request, parts.browser)}${AUTHORIZE}?${inAddress(text)}`);
      },
    },
    {
      method: "POST",
      path: "/oauth/consent",
      summary: "Takes the answer to the question whether to log in to an app.",
      request: v.object({ request: v.string(), answer: v.picklist(["allow", "deny"]) }),
      requestTypes: FORM,
      ...PAGE,
      statuses: [200, 303, 400],
      mediaTypes: { 200: HTML, 400: HTML },
      problems: [...FORM_PROBLEMS, "store_unavailable"],
      handler: consentHandler(parts),
    },
    {
      ...posted,
      path: "/oauth/token",
      summary: "Exchanges a code or a refresh token for tokens (RFC 6749).",
      problems: ["store_unavailable", "signing_key_unreadable"],
      handler: tokenHandler(parts),
    },
    {
      ...posted,
      path: "/oauth/revoke",
      summary: "Ends a token of a client, with all that came from its code (RFC 7009).",
      handler: tokenValueHandler(parts, async (client, token) => {
        await parts.grants.revoke(client, token);
        return {};
      }),
    },
    {
      ...posted,
      path: "/oauth/introspect",
      summary: "Tells a client whether a token of its own may be used (RFC 7662).",
      handler: tokenValueHandler(parts, (client, token) => parts.grants.introspect(client, token)),
    },
    { ...userinfo, method: "GET", path: "/oauth/userinfo", summary: "Tells an app about the user." },
    {
      ...userinfo,
      method: "POST",
      path: "/oauth/userinfo",
      summary: "Tells an app about the user. The token may be in the body.",
      request: JSON_OBJECT,
      requestTypes: FORM,
    },
    {
      method: "GET",
      path: LOGOUT,
      summary:
        "Ends the session that `id_token_hint` names, and leads to `post_logout_redirect_uri` if the client has it. Otherwise it leads to the page with the button.",
      ...PAGE,
      handler: logoutHandler(parts),
    },
    {
      method: "POST",
      path: LOGOUT,
      summary: "Leads a browser to `GET /oauth/logout` with the same parameters.",
      response: v.string(),
      statuses: [303],
      problems: ["payload_too_large", "unsupported_media_type"],
      async handler({ request }) {
        const text = inAddress(await readUrlEncoded(request));
        return redirect(`${prefixOf(request, parts.browser)}${LOGOUT}?${text}`);
      },
    },
    {
      ...program,
      method: "GET",
      path: "/oauth/jwks",
      summary: "Lists the public keys of ID tokens and logout tokens.",
      problems: ["store_unavailable", "signing_key_unreadable"],
      quiet: true,
      async handler() {
        const headers = { "Cache-Control": `public, max-age=${KEYS_MAX_AGE_SECONDS}` };
        return { status: 200, body: { keys: await parts.keys.published() }, headers };
      },
    },
    ...["openid-configuration", "oauth-authorization-server"].map((name) => ({
      ...program,
      method: "GET" as const,
      path: `/.well-known/${name}`,
      summary: "Describes this provider (OpenID Connect Discovery, RFC 8414).",
      problems: [],
      quiet: true,
      handler: () => ({ status: 200, body: discoveryOf(parts) }),
    })),
    {
      ...program,
      method: "GET",
      path: "/.well-known/webfinger",
      summary: "Names this provider to an app that has the user's e-mail (RFC 7033).",
      problems: ["not_found"],
      quiet: true,
      handler: webfingerHandler(parts),
    },
  ];
}

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

async function readUrlEncoded(request: IncomingMessage): Promise<string> {
  requireMediaType(request, FORM);
  return (await readRawBody(request, BODY_LIMIT)).toString("utf8");
}

/** The text of a form as a query: a browser may write in a form what no address can have. */
const inAddress = (text: string) => text.replace(/[^\x21-\x7e]|#/gu, encodeURIComponent);

/** The time from which on the login must have been, as this service has put it into the address; null without one. */
const AFTER = "authserve_after";

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
function judge(query: string, context: RequestContext, parts: ClientParts): Judged {
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
function authorizeHandler(parts: ClientParts): RequestHandler {
  const { browser, store, user } = parts;
  const grant = createGrant(parts);
  return async (context) => {
    const { request: message } = context;
    const query = queryTextOf(message);
    const judged = judge(query, context, parts);
    if ("reply" in judged) return judged.reply;
    const { request } = judged;
    const { redirectUri, state, client, prompt, scope } = request;
    const session = await findSession(context, query, request, parts);
    if (!session?.isEnough) {
      if (prompt.has("none")) return answerApp(parts, redirectUri, { error: "login_required", state });
      return toLoginFor(message, query, session !== null, parts);
    }
    const known = client.consent === "once" ? await store.consent(user.id, client.name) : null;
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
  /** Whether it is new enough for the request. */
  isEnough: boolean;
}

/** Finds the session of the browser. */
async function findSession(
  { request: message }: RequestContext,
  query: string,
  request: AuthorizationRequest,
  { browser, grants, keys, issuer, user }: ClientParts,
): Promise<LoggedIn | null> {
  const { claims } = await sessionOf(message, browser);
  if (claims === null) return null;
  const { idTokenHint } = request;
  const isOther = idTokenHint !== null && (await keys.verify(idTokenHint, issuer))?.sub !== user.id;
  const after = new URLSearchParams(query).get(AFTER);
  const authentication = await grants.authentication(claims);
  const isNew = authentication.authenticatedAt >= requiredAfter(request, after, browser.now());
  return { claims, authentication, isEnough: !isOther && isNew };
}

const isOfLogin = (sent: URLSearchParams) => sent.has(AFTER) || sent.has("id_token_hint");

/** Leads to the login page, and from there back to the request. It then takes any login from now on. */
function toLoginFor(request: IncomingMessage, query: string, isAgain: boolean, { browser }: ClientParts): Reply {
  const prefix = prefixOf(request, browser);
  const rest = query.split("&").filter((one) => !isOfLogin(new URLSearchParams(one)));
  const back = `${prefix}${AUTHORIZE}?${[...rest, `${AFTER}=${Math.floor(browser.now())}`].join("&")}`;
  return redirect(`${prefix}/login?${isAgain ? `${AGAIN}=app&` : ""}rd=${encodeURIComponent(back)}`);
}

/** Creates what leads back to the app with a code. The session of the browser then lasts for as long as it may. */
function createGrant(parts: ClientParts) {
  const { browser, grants } = parts;
  const renew = createRenew(browser);
  return async (request: AuthorizationRequest, { claims, authentication }: LoggedIn): Promise<Reply> => {
    const code = await grants.code(request, claims.sid, authentication);
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
  { email }: AccessClaims,
  browser: BrowserParts,
): Reply {
  const texts = textsFor(message.headers["accept-language"]);
  const { consent, as, allow, deny } = texts.app;
  const { client } = request;
  const body = html`<h1>${consent} ${client.name}</h1>
<p>${as} <strong>${email}</strong></p>
<form method="post" action="${prefixOf(message, browser)}/oauth/consent">
<input type="hidden" name="request" value="${query}">
<button type="submit" name="answer" value="allow" autofocus>${allow}</button>
<button type="submit" name="answer" value="deny" class="quiet">${deny}</button>
</form>`;
  const title = `${consent} ${client.name}`;
  return pageReply(200, { lang: texts.lang, title, body, formTarget: formTargetOf(request) });
}

/** Answers `POST /oauth/consent`. The request is judged anew: the form could have been changed. */
function consentHandler(parts: ClientParts): RequestHandler {
  const { browser, store, user } = parts;
  const grant = createGrant(parts);
  return async (context) => {
    const fields = await readOwnForm(context.request, browser);
    const query = fields.get("request") ?? "";
    const judged = judge(query, context, parts);
    if ("reply" in judged) return judged.reply;
    const { request } = judged;
    const { redirectUri, state, client, scope } = request;
    if (fields.get("answer") !== "allow") return answerApp(parts, redirectUri, { error: "access_denied", state });
    const session = await findSession(context, query, request, parts);
    if (!session?.isEnough) return toLoginFor(context.request, query, session !== null, parts);
    if (client.consent === "once") await store.setConsent(user.id, client.name, scope, browser.now());
    return grant(request, session);
  };
}

const CREDENTIALS = ["client_id", "client_secret"];
const TOKEN_PARAMETERS = [
  ...CREDENTIALS,
  ...["grant_type", "code", "redirect_uri", "code_verifier", "refresh_token", "scope"],
];

const refusal = ({ status, headers, body }: TokenError): Reply => ({
  status,
  body,
  headers: { ...headers, "Content-Type": "application/json" },
});

/** Reads the body of a client's request, and authenticates it. */
async function readClient(
  request: IncomingMessage,
  names: readonly string[],
  { clients }: ClientParts,
): Promise<{ client: Client; sent: SentParameters } | { reply: Reply }> {
  const sent = readParameters(await readUrlEncoded(request), names);
  const found = authenticateClient(headerValues(request.rawHeaders, "authorization"), sent, clients);
  return found.ok ? { client: found.client, sent } : { reply: refusal(found.error) };
}

/** Answers `POST /oauth/token`. */
function tokenHandler(parts: ClientParts): RequestHandler {
  return async ({ request }) => {
    const read = await readClient(request, TOKEN_PARAMETERS, parts);
    if ("reply" in read) return read.reply;
    const { client, sent } = read;
    const type = sent.values.get("grant_type");
    if (type !== "authorization_code" && type !== "refresh_token") {
      const code = type === undefined ? "invalid_request" : "unsupported_grant_type";
      return refusal(tokenError(code, "expected grant_type authorization_code or refresh_token"));
    }
    const granted = await parts.grants[type === "refresh_token" ? "refresh" : "exchange"](client, sent.values);
    return granted.ok ? { status: 200, body: granted.answer } : refusal(granted.error);
  };
}

/** Answers a request of a client about a token. */
function tokenValueHandler(
  parts: ClientParts,
  answer: (client: Client, token: string) => Promise<Record<string, unknown>>,
): RequestHandler {
  return async ({ request }) => {
    const read = await readClient(request, [...CREDENTIALS, "token", "token_type_hint"], parts);
    if ("reply" in read) return read.reply;
    const token = read.sent.values.get("token");
    if (token === undefined) return refusal(tokenError("invalid_request", "token is missing"));
    return { status: 200, body: await answer(read.client, token) };
  };
}

/** Answers `/oauth/userinfo`. */
function userInfoHandler(parts: ClientParts): RequestHandler {
  const { grants, clients, user } = parts;
  return async ({ request }) => {
    const value = await bearerOf(request);
    const found = value === null ? null : await grants.accessToken(value, clients);
    if (found === null) {
      const error = value === null ? "" : ', error="invalid_token"';
      const headers = { "WWW-Authenticate": `Bearer realm="authserve"${error}`, "Content-Type": "application/json" };
      return { status: 401, body: { error: "invalid_token" }, headers };
    }
    return { status: 200, body: claimsOf(user, found.client, found.token.scope) };
  };
}

/** The access token of a request: in its header, or in the body of a form; null unless there is exactly one. */
async function bearerOf(request: IncomingMessage): Promise<string | null> {
  const headers = headerValues(request.rawHeaders, "authorization");
  const isForm = request.method === "POST" && request.headers["content-type"] !== undefined;
  const inBody = isForm
    ? readParameters(await readUrlEncoded(request), ["access_token"]).values.get("access_token")
    : undefined;
  const inHeader = headers.length === 1 ? /^bearer ([A-Za-z0-9._~+/-]+=*)$/i.exec(headers[0] ?? "")?.[1] : undefined;
  if (headers.length > 1 || (inBody !== undefined && headers.length > 0)) return null;
  return inHeader ?? inBody ?? null;
}

/** Answers `GET /oauth/logout` (OpenID Connect RP-Initiated Logout 1.0). Without a hint a person is asked first. */
function logoutHandler(parts: ClientParts): RequestHandler {
  const { browser, keys, issuer, clients } = parts;
  return async ({ request, requestId, address }) => {
    const query = queryOf(request);
    const { claims } = await sessionOf(request, browser);
    const hint = query.get("id_token_hint");
    const named = hint === null ? null : await keys.verify(hint, issuer);
    const client = clients.find(({ name }) => name === (named?.aud ?? query.get("client_id")));
    const after = client?.logout.after.find((one) => one === query.get("post_logout_redirect_uri")) ?? null;
    const target = after === null ? null : answerUrl(after, { state: query.get("state") });
    const isOfHint = claims !== null && client !== undefined && named?.sid === clientSid(claims.sid, client.name);
    if (isOfHint && (await browser.sessions.removeIf(claims.sub, claims.sid)))
      browser.log.info({ event: "session_ended", requestId, address, userId: claims.sub }, "logged out by an app");
    const clear = isOfHint ? { "Set-Cookie": browser.cookie.clear() } : {};
    if (target !== null && (claims === null || isOfHint)) return redirect(target, clear);
    return redirect(`${prefixOf(request, browser)}/${claims === null || isOfHint ? "login" : "logout"}`, clear);
  };
}

function discoveryOf({ issuer, clients }: ClientParts): Record<string, unknown> {
  const at = (path: string) => `${issuer}/oauth/${path}`;
  const methods = ["client_secret_basic", "client_secret_post"];
  const hasPublic = clients.some(({ secret }) => secret === null);
  return {
    issuer,
    authorization_endpoint: at("authorize"),
    token_endpoint: at("token"),
    userinfo_endpoint: at("userinfo"),
    jwks_uri: at("jwks"),
    revocation_endpoint: at("revoke"),
    introspection_endpoint: at("introspect"),
    end_session_endpoint: at("logout"),
    scopes_supported: SCOPES,
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(["RS256", ...clients.map(({ algorithm }) => algorithm)])],
    token_endpoint_auth_methods_supported: hasPublic ? [...methods, "none"] : methods,
    code_challenge_methods_supported: ["S256"],
    claims_supported: [
      ...["iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "amr", "sid"],
      ...["email", "email_verified", "name", "preferred_username", "groups"],
    ],
    prompt_values_supported: ["none", "login", "consent", "select_account"],
    backchannel_logout_supported: true,
    backchannel_logout_session_supported: true,
    authorization_response_iss_parameter_supported: true,
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
  };
}

const ISSUER_RELATION = "http://openid.net/specs/connect/1.0/issuer";

function webfingerHandler({ user, issuer }: ClientParts): RequestHandler {
  return ({ request }) => {
    const resource = queryOf(request).get("resource") ?? "";
    if (resource.toLowerCase() !== `acct:${user.email.toLowerCase()}`) throw new AppError("not_found");
    const links = [{ rel: ISSUER_RELATION, href: issuer }];
    return { status: 200, body: { subject: resource, links }, headers: { "Content-Type": "application/jrd+json" } };
  };
}
