import type { IncomingMessage } from "node:http";
import { headerValues } from "../../http/headers.ts";
import type { Authenticate } from "../authenticate.ts";
import type { AccessClaims } from "../token.ts";
import type { Cookie } from "./cookie.ts";
import { requireSameSite } from "./cross-site.ts";
import type { RedirectRules } from "./redirect-target.ts";

/** Authenticates a request by its `Authorization` header or its cookie. Throws the errors of {@link Authenticate}. */
export type AuthenticateRequest = (request: IncomingMessage) => Promise<AccessClaims>;

/**
 * Creates the guard of requests with a token or a cookie, see {@link authenticateRequest}. A request with the cookie
 * that changes state must come from the same site, or from a trusted origin. Without `browser` there is no cookie.
 */
export function createRequestGuard(
  authenticate: Authenticate,
  browser: { cookie: Cookie; rules: Pick<RedirectRules, "origin"> } | null,
  trustedOrigins: readonly string[],
): AuthenticateRequest {
  return async (request) => {
    const { claims, isByCookie } = await authenticateRequest(request, browser?.cookie ?? null, authenticate);
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (browser && isByCookie && !isRead) requireSameSite(request, trustedOrigins, browser.rules.origin);
    return claims;
  };
}

/**
 * Authenticates a request by its `Authorization` header if that has a token of this service. What an app uses the
 * header for is not judged: then the cookie counts.
 */
export async function authenticateRequest(
  request: IncomingMessage,
  cookie: Cookie | null,
  authenticate: Authenticate,
): Promise<{ claims: AccessClaims; isByCookie: boolean }> {
  const authorization = headerValues(request.rawHeaders, "authorization");
  const tokens = cookie === null ? [] : tokensIn(request, cookie);
  const isByHeader = authorization.length > 0 && (tokens.length === 0 || authenticate.isOwn(authorization));
  if (isByHeader || cookie === null) return { claims: await authenticate.byHeader(authorization), isByCookie: false };
  return { claims: await authenticate.byCookie(tokens), isByCookie: true };
}

/** Authenticates a request by its cookie alone. */
export function authenticateCookie(
  request: IncomingMessage,
  cookie: Cookie,
  authenticate: Authenticate,
): Promise<AccessClaims> {
  return authenticate.byCookie(tokensIn(request, cookie));
}

const tokensIn = (request: IncomingMessage, cookie: Cookie) => cookie.read(request).filter((token) => token !== "");
