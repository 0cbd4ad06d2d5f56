import { isOfForm } from "../session-id.ts";
import type { SessionStore } from "../sessions.ts";
import type { AccessClaims } from "../token.ts";

/** How long tokens and sessions last, in seconds. */
export interface Lifetimes {
  ttlSeconds: number;
  /** Since the login, renewals included. */
  sessionMaxAgeSeconds: number;
}

/** The expiry of a token that is renewed now; Unix seconds. */
export function renewedExpiry(
  { iat, exp }: AccessClaims,
  { ttlSeconds, sessionMaxAgeSeconds }: Lifetimes,
  now: number,
) {
  return iat === undefined ? exp : Math.min(now + ttlSeconds, iat + sessionMaxAgeSeconds);
}

// A browser that does not keep the new cookie must not be sent in circles: a session that was just renewed is not renewed again.
const RENEWABLE_SHARE = 0.9;

/**
 * Whether to renew a live session: a form opened it, less than a third of its lifetime is left, a renewal would prolong it, and it
 * was not just renewed. A token of the API is not renewed, also not in the cookie. `now` is in Unix seconds.
 */
export async function isRenewalDue(
  claims: AccessClaims,
  lifetimes: Lifetimes,
  sessions: Pick<SessionStore, "find">,
  now: number,
): Promise<boolean> {
  const { ttlSeconds } = lifetimes;
  if (!isOfForm(claims.sid)) return false;
  if (claims.exp - now >= ttlSeconds / 3 || renewedExpiry(claims, lifetimes, now) <= claims.exp) return false;
  const record = await sessions.find(claims.sub);
  return record !== null && record.sid === claims.sid && record.expiresAt / 1000 - now < RENEWABLE_SHARE * ttlSeconds;
}
