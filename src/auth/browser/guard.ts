import type { IncomingMessage } from "node:http";
import { headerValues } from "../../http/headers.ts";
import type { Authenticate } from "../authenticate.ts";
import type { AccessClaims } from "../token.ts";
import type { Cookie } from "./cookie.ts";
import { requireSameSite } from "./cross-site.ts";

/** Authenticates a request by its `Authorization` header, else by its cookie. Throws the errors of {@link Authenticate}. */
export type AuthenticateRequest = (request: IncomingMessage) => Promise<AccessClaims>;

/**
 * Creates the guard of requests with a token or a cookie. An `Authorization` header counts alone. A request with the cookie that
 * changes state must come from the same site, or from a trusted origin.
 */
export function createRequestGuard(
  authenticate: Authenticate,
  cookie: Cookie | null,
  trustedOrigins: readonly string[],
): AuthenticateRequest {
  return async (request) => {
    const authorization = headerValues(request.rawHeaders, "authorization");
    if (cookie === null || authorization.length > 0) return authenticate.byHeader(authorization);
    const claims = await authenticateCookie(request, cookie, authenticate);
    if (request.method !== "GET" && request.method !== "HEAD") requireSameSite(request, trustedOrigins);
    return claims;
  };
}

/** Authenticates a request by its cookie alone. */
export function authenticateCookie(
  request: IncomingMessage,
  cookie: Cookie,
  authenticate: Authenticate,
): Promise<AccessClaims> {
  return authenticate.byCookie(cookie.read(request).filter((token) => token !== ""));
}
