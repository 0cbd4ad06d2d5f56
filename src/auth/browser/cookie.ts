import type { IncomingMessage } from "node:http";
import { trimSpace } from "../../lib/http-space.ts";

/** The cookie that carries an access token. Its name and attributes depend on the address of the service. */
export interface SessionCookie {
  /** The tokens in the cookies of a request. Several have come from other paths or domains. */
  read(request: IncomingMessage): string[];
  /** The `Set-Cookie` that keeps a token for this many seconds. */
  set(token: string, maxAgeSeconds: number): string;
  /** The `Set-Cookie` that removes the cookie. */
  clear(): string;
}

/**
 * Creates the cookie. On HTTPS its prefix lets browsers refuse a cookie of this name from elsewhere (RFC 6265bis, 4.1.3):
 * `__Host-` ties it to the host, `__Secure-` to HTTPS only, because `cookieDomain` shares it with subdomains.
 */
export function createSessionCookie(origin: string, cookieDomain: string | undefined): SessionCookie {
  const isSecure = origin.startsWith("https:");
  const name = `${isSecure ? (cookieDomain === undefined ? "__Host-" : "__Secure-") : ""}authserve`;
  const attributes = [
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
    ...(isSecure ? ["Secure"] : []),
    ...(cookieDomain === undefined ? [] : [`Domain=${cookieDomain}`]),
  ].join("; ");

  return {
    read: ({ headers: { cookie } }) => (cookie === undefined ? [] : valuesOf(cookie, name)),
    set: (token, maxAgeSeconds) => `${name}=${token}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

/** The values of a cookie in a `Cookie` header. Node joins several headers with `; `. */
function valuesOf(header: string, name: string): string[] {
  return header.split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at !== -1 && trimSpace(pair.slice(0, at)) === name ? [trimSpace(pair.slice(at + 1))] : [];
  });
}
