import type { IncomingMessage } from "node:http";
import { AppError } from "../../errors.ts";

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
