import type { SessionStore } from "../sessions.ts";
import { type AccessClaims, createSignToken, isOfForm } from "../token.ts";
import type { Cookie } from "./cookie.ts";

/** How long tokens and sessions last, in seconds. */
export interface Lifetimes {
  ttlSeconds: number;
  /** Since the login, renewals included. */
  sessionMaxAgeSeconds: number;
}

/**
 * Where a browser gets the renewed cookie. `page`: on a page of this service, to which it is sent. `answer`: in that of
 * a protected app, where a proxy may drop it. `app`: at a login to an app. That does not ask again, so nothing would
 * renew the session while it is used: it gets all of its time.
 */
export type RenewalPlace = "page" | "answer" | "app";

/** A place's share of the lifetime: what a renewal gives, and below which the session is renewed again. */
interface Shares {
  given: number;
  renewable: number;
}

// A browser that does not keep the new cookie must not be sent in circles: a session that was just renewed on the page
// is not renewed again. A renewal in an answer gives less, so that the page can still renew a session whose new cookie
// a proxy drops.
const SHARES: Record<Exclude<RenewalPlace, "app">, Shares> = {
  page: { given: 1, renewable: 0.9 },
  answer: { given: 0.89, renewable: 0.79 },
};

/** The expiry of a token that is renewed now; Unix seconds. */
export function renewedExpiry(
  { iat, exp }: AccessClaims,
  { ttlSeconds, sessionMaxAgeSeconds }: Lifetimes,
  now: number,
  place: RenewalPlace,
) {
  if (iat === undefined) return exp;
  if (place === "app") return Math.max(exp, iat + sessionMaxAgeSeconds);
  const given = Math.floor(SHARES[place].given * ttlSeconds);
  return Math.min(Math.floor(now) + given, iat + sessionMaxAgeSeconds);
}

/**
 * Whether to renew a live session: a form opened it, less than a third of its lifetime is left, a renewal would prolong
 * it, and it was not just renewed. A token of the API is not renewed, also not in the cookie. `now` is in Unix seconds.
 */
export async function isRenewalDue(
  claims: AccessClaims,
  lifetimes: Lifetimes,
  sessions: Pick<SessionStore, "find">,
  now: number,
  place: Exclude<RenewalPlace, "app">,
): Promise<boolean> {
  const { ttlSeconds } = lifetimes;
  if (!isOfForm(claims.sid)) return false;
  if (claims.exp - now >= ttlSeconds / 3 || renewedExpiry(claims, lifetimes, now, place) <= claims.exp) return false;
  const record = await sessions.find(claims.sub);
  if (record === null || record.sid !== claims.sid) return false;
  return record.expiresAt / 1000 - now < SHARES[place].renewable * ttlSeconds;
}

/** What a renewal uses. */
export interface RenewalParts {
  sessions: Pick<SessionStore, "find" | "extendIf">;
  cookie: Cookie;
  lifetimes: Lifetimes;
  /** Signs renewed tokens. */
  secret: string;
}

/**
 * Creates a function that prolongs a session and returns the `Set-Cookie` of its new token, which has the same `sid`
 * and `iat`. Returns null if the session has ended. `now` is in Unix seconds.
 */
export function createRenew({ sessions, cookie, lifetimes, secret }: RenewalParts) {
  const sign = createSignToken(secret);
  return async (claims: AccessClaims, now: number, place: RenewalPlace): Promise<string | null> => {
    const { sub, email, sid, iat = Math.floor(now) } = claims;
    const exp = renewedExpiry(claims, lifetimes, now, place);
    const left = exp - Math.floor(now);
    if (!(await sessions.extendIf(sub, sid, left))) return null;
    return cookie.set(await sign({ sub, email, sid, iat, exp }), left);
  };
}
