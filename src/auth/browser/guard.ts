import type { IncomingMessage } from "node:http";
import type { BlockList } from "node:net";
import { AppError } from "../../errors.ts";
import type { RequestContext } from "../../http/endpoint.ts";
import { isFromUnknownClient, isTrusted, peerAddress, sentOrigin } from "../../http/proxies.ts";
import { headerValues } from "../../lib/header-value.ts";
import type { Authenticate, LiveSession } from "../authenticate.ts";
import { basicTokensIn, tokensIn } from "../machine-tokens/form.ts";
import { insufficientScope, type MachineTokens, wrongToken } from "../machine-tokens/machine-tokens.ts";
import type { TokenRecord } from "../machine-tokens/store.ts";
import { type People, type Person, personOfToken, requireOwner } from "../people/people.ts";
import type { AccessClaims } from "../token.ts";
import type { Cookie } from "./cookie.ts";
import { isWithin, type RedirectRules } from "./redirect-target.ts";

/** Authenticates a request by its `Authorization` header or its cookie. Throws the errors of {@link Authenticate}. */
export type AuthenticateRequest = (request: IncomingMessage) => Promise<AccessClaims>;

/**
 * Creates the guard of requests with a token or a cookie, see {@link authenticateRequest}. A request with the cookie
 * that changes state must come from the same site, or from a trusted origin. Without `browser` there is no cookie.
 */
export function createRequestGuard(
  authenticate: Authenticate,
  browser: (SessionCookies & { rules: Pick<RedirectRules, "origin"> }) | null,
  trustedOrigins: readonly string[],
): AuthenticateRequest {
  return async (request) => {
    const { claims, isByCookie } = await authenticateRequest(request, browser, authenticate);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (browser && isByCookie && !isRead) requireSameSite(request, trustedOrigins, browser.rules.origin);
    return claims;
  };
}

/** The cookies of a session. */
export interface SessionCookies {
  cookie: Cookie;
  /** That of what binds sessions to devices. Null where nothing does. */
  device: { proofCookie: Cookie } | null;
}

/** Where a request came from, and what it has. */
type Requester = Pick<RequestContext, "request" | "address">;

/** The token of a program in a request, also a wrong one, and whether it is the only one. */
type FoundToken = { token: string; isOnly: boolean } | null;

/** Finds the token of a program. */
type FindToken = (request: IncomingMessage) => FoundToken;

/** The header for a program whose app needs `Authorization` itself. Its value is the token alone. */
export const TOKEN_HEADER = "x-authserve-token";

/** Finds it in a Bearer header. */
const bearerToken: FindToken = (request) => tokenInAuthorization(request, tokensIn);

/** Finds it where the app would get it: in a Bearer header, or in a Basic one as the password. */
export const appToken: FindToken = (request) =>
  tokenInAuthorization(request, (values) => [...tokensIn(values), ...basicTokensIn(values)]);

/** Finds what forward-auth takes: that of its own header, or else that in `Authorization`. */
export const forwardedToken: FindToken = (request) => {
  const values = headerValues(request.rawHeaders, TOKEN_HEADER).filter((value) => value !== "");
  return firstToken(values, values) ?? appToken(request);
};

function tokenInAuthorization({ rawHeaders }: IncomingMessage, tokensOf: (values: string[]) => string[]): FoundToken {
  const values = headerValues(rawHeaders, "authorization");
  return firstToken(tokensOf(values), values);
}

const firstToken = ([token]: string[], values: string[]): FoundToken =>
  token === undefined ? null : { token, isOnly: values.length === 1 };

/**
 * Returns the genuine token of a program that a request has; null if it has none. Throws the errors of {@link
 * MachineTokens}.
 */
export async function machineTokenOf(
  { request, address }: Requester,
  machineTokens: MachineTokens,
  find: FindToken = bearerToken,
): Promise<TokenRecord | null> {
  const found = find(request);
  if (found === null) return null;
  if (!found.isOnly) throw wrongToken();
  return machineTokens.authenticate(found.token, address);
}

/** Lets a request pass that has the live session, or a token with a scope. Null: no token is enough. */
type Authorize = (
  requester: Requester,
  scope: string | null,
) => Promise<{ kind: "session" | "token"; name: string; person: Person }>;

/**
 * Creates the guard of what belongs to owners, and what their programs may do, too. A token is no cookie, so that no
 * other site can make use of it.
 */
export function createScopeGuard(
  authenticate: AuthenticateRequest,
  machineTokens: MachineTokens,
  people: People,
): Authorize {
  return async (requester, scope) => {
    const token = await machineTokenOf(requester, machineTokens);
    if (token === null) {
      const { sub: name } = await authenticate(requester.request);
      const person = people.byId(name);
      requireOwner(person);
      return { kind: "session", name, person };
    }
    const person = personOfToken(people.list(), token.name);
    requireOwner(person);
    if (scope === null || !token.scopes.includes(scope)) throw insufficientScope(scope);
    return { kind: "token", name: token.name, person };
  };
}

/** Creates the guard of pages that belong to owners. */
export function createOwnerGuard(authenticate: AuthenticateRequest, people: People): AuthenticateRequest {
  return async (request) => {
    const claims = await authenticate(request);
    requireOwner(people.byId(claims.sub));
    return claims;
  };
}

/**
 * Authenticates a request by its `Authorization` header if that has a token of this service. What an app uses the
 * header for is not judged: then the cookie counts.
 */
export async function authenticateRequest(
  request: IncomingMessage,
  cookies: SessionCookies | null,
  authenticate: Authenticate,
): Promise<LiveSession & { isByCookie: boolean }> {
  const authorization = headerValues(request.rawHeaders, "authorization");
  const tokens = cookies === null ? [] : valuesIn(request, cookies.cookie);
  const isByHeader = authorization.length > 0 && (tokens.length === 0 || authenticate.isOwn(authorization));
  const isByCookie = !isByHeader && cookies !== null;
  // A stolen cookie could be sent as a Bearer token, too.
  const proofs = proofsIn(request, cookies);
  const session = isByCookie
    ? await authenticate.byCookie(tokens, proofs)
    : await authenticate.byHeader(authorization, proofs);
  return { ...session, isByCookie };
}

/** Authenticates a request by its cookie alone. */
export function authenticateCookie(
  request: IncomingMessage,
  cookies: SessionCookies,
  authenticate: Authenticate,
): Promise<LiveSession> {
  return authenticate.byCookie(valuesIn(request, cookies.cookie), proofsIn(request, cookies));
}

const proofsIn = (request: IncomingMessage, cookies: SessionCookies | null) =>
  cookies?.device?.proofCookie.read(request) ?? [];

const valuesIn = (request: IncomingMessage, cookie: Cookie) => cookie.read(request).filter((token) => token !== "");

/**
 * Throws `cross_site_request` for a request that another site may have caused (CSRF). The rule is that of Go's
 * `http.CrossOriginProtection`: browsers say where a request comes from, in `Sec-Fetch-Site` or in `Origin`. A client
 * that sends neither is no browser. `trustedOrigins` may send requests from elsewhere. A proxy may have changed `Host`,
 * so `ownOrigin` counts as the same; a proxy may do TLS, so only `ownOrigin` tells the scheme.
 */
export function requireSameSite(request: IncomingMessage, trustedOrigins: readonly string[], ownOrigin: string): void {
  if (!isAllowed(request, trustedOrigins, ownOrigin)) throw new AppError("cross_site_request");
}

function isAllowed({ headers }: IncomingMessage, trustedOrigins: readonly string[], ownOrigin: string): boolean {
  const { origin, "sec-fetch-site": site, host } = headers;
  if (origin !== undefined && trustedOrigins.includes(origin)) return true;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined || origin === ownOrigin) return true;
  return host !== undefined && URL.parse(`${new URL(ownOrigin).protocol}//${host}`)?.origin === origin;
}

/**
 * Whether a request seems to come from a page of this host under another scheme. A browser that opened it over plain
 * HTTP sends no `Sec-Fetch-Site`.
 */
export function isFromOtherScheme({ headers }: IncomingMessage): boolean {
  const { origin = "", "sec-fetch-site": site, host } = headers;
  return site === undefined && host !== undefined && URL.parse(origin)?.host === host.toLowerCase();
}

/** Whether a browser that reaches this service under an origin keeps its cookie, so that a login there would last. */
export function keepsCookie(origin: string, { origin: own, cookieDomain }: RedirectRules): boolean {
  const { protocol, hostname } = new URL(own);
  if (protocol === "http:") return true;
  const reached = URL.parse(origin);
  if (reached === null || reached.protocol !== "https:") return false;
  return reached.hostname === hostname || isWithin(reached.hostname, cookieDomain);
}

/**
 * The origin under which a browser has reached this service, as far as the request tells. A proxy that is not trusted
 * may have done TLS: then the scheme counts as right.
 */
export function reachedOrigin(
  request: IncomingMessage,
  trustedProxies: BlockList | undefined,
  { origin }: RedirectRules,
): string {
  const reached = sentOrigin(request, trustedProxies);
  const isOfProxy = isTrusted(peerAddress(request.socket), trustedProxies);
  return !isOfProxy && isFromUnknownClient(request, trustedProxies)
    ? reached.replace(/^http:/, new URL(origin).protocol)
    : reached;
}
