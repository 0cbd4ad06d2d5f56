import type { IncomingMessage } from "node:http";
import { AppError } from "../../errors.ts";

/**
 * Throws `cross_site_request` for a request that another site may have caused (CSRF). The rule is that of Go's
 * `http.CrossOriginProtection`: browsers say where a request comes from, in `Sec-Fetch-Site` or in `Origin`. A client that
 * sends neither is no browser. `trustedOrigins` may send requests from elsewhere. A proxy may have changed `Host`, so `ownOrigin`
 * counts as the same.
 */
export function requireSameSite(request: IncomingMessage, trustedOrigins: readonly string[], ownOrigin?: string): void {
  if (!isAllowed(request, trustedOrigins, ownOrigin)) throw new AppError("cross_site_request");
}

function isAllowed({ headers }: IncomingMessage, trustedOrigins: readonly string[], ownOrigin?: string): boolean {
  const { origin, "sec-fetch-site": site, host } = headers;
  if (origin !== undefined && trustedOrigins.includes(origin)) return true;
  if (site !== undefined) return site === "same-origin" || site === "none";
  if (origin === undefined || origin === ownOrigin) return true;
  const sender = URL.parse(origin);
  // Null for "null", the origin of sandboxed frames and of redirects between sites. It must not equal a missing Host.
  return sender !== null && sender.host !== "" && sender.host === host?.toLowerCase();
}
