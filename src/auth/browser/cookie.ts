import type { IncomingMessage } from "node:http";
import { trimSpace } from "../../lib/header-value.ts";

/** Creates the cookie that carries an access token. `cookieDomain` shares it with subdomains. */
export function createSessionCookie(origin: string, cookieDomain: string | undefined): Cookie {
  return createCookie("authserve", origin, cookieDomain);
}

/** Creates the cookie that carries the mark of a browser that has logged in. Only the pages of this service need it. */
export function createMarkCookie(origin: string): Cookie {
  return createCookie("authserve-browser", origin, undefined);
}

/** Creates the cookie that proves the device of a session, where that goes. */
export function createProofCookie(origin: string, cookieDomain: string | undefined): Cookie {
  return createCookie("authserve-device", origin, cookieDomain);
}

/** Creates the cookie of a browser that has not proved its device. */
export function createUnprovedCookie(origin: string): Cookie {
  return createCookie("authserve-unproved", origin, undefined);
}

/** Creates the cookie that carries what a browser has begun, such as a login whose code is missing. */
export function createStepCookie(origin: string): Cookie {
  return createCookie("authserve-step", origin, undefined);
}

/** Creates the cookie that carries the challenge for a passkey. */
export function createChallengeCookie(origin: string): Cookie {
  return createCookie("authserve-challenge", origin, undefined);
}

/** Creates the cookie of the browser that has opened a link of `people invite`. */
export function createInvitationCookie(origin: string): Cookie {
  return createCookie("authserve-invitation", origin, undefined);
}

/**
 * On HTTPS its prefix lets browsers refuse a cookie of this name from elsewhere (RFC 6265bis, 4.1.3): `__Host-` ties it
 * to the host, `__Secure-` to HTTPS only.
 */
function createCookie(plainName: string, origin: string, domain: string | undefined) {
  const isSecure = origin.startsWith("https:");
  const name = `${isSecure ? (domain === undefined ? "__Host-" : "__Secure-") : ""}${plainName}`;
  const attributes = [
    "Path=/",
    "HttpOnly",
    "SameSite=Lax",
    ...(isSecure ? ["Secure"] : []),
    ...(domain === undefined ? [] : [`Domain=${domain}`]),
  ].join("; ");

  return {
    name,
    attributes,
    /** Its values in a request. Several have come from other paths or domains. */
    read: ({ headers: { cookie } }: IncomingMessage) => (cookie === undefined ? [] : valuesOf(cookie, name)),
    /** The `Set-Cookie` that keeps a value for this many seconds. */
    set: (value: string, maxAgeSeconds: number) => `${name}=${value}; Max-Age=${maxAgeSeconds}; ${attributes}`,
    /** The `Set-Cookie` that removes the cookie. */
    clear: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

/** A cookie of this service. */
export type Cookie = ReturnType<typeof createCookie>;

/** The values of a cookie in a `Cookie` header. Node joins several headers with `; `. */
function valuesOf(header: string, name: string): string[] {
  return header.split(";").flatMap((pair) => {
    const at = pair.indexOf("=");
    return at !== -1 && trimSpace(pair.slice(0, at)) === name ? [trimSpace(pair.slice(at + 1))] : [];
  });
}
