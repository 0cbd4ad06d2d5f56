/**
 * Where a stored event stands. An attempt moves it from `queued` to any of the three, see {@link Next}, a replay from the
 * other two to `queued`. A claim leaves the status as it is: a lease is not a state.
 */
export const STATUSES = ["queued", "processed", "failed"] as const;
export type Status = (typeof STATUSES)[number];

/** Begins the id of an event that only its bytes name: their SHA-256 in hex follows. */
export const DIGEST_PREFIX = "sha256:";

/** How an attempt ended, as kept in its history. */
export type AttemptOutcome = "succeeded" | "failed" | "lease_expired";

/** Where an attempt leaves its event; a free one uses up nothing of the budget. Times are Unix milliseconds. */
export type Next =
  | { to: "processed" }
  | { to: "queued"; runAt: number; isFree?: boolean }
  | { to: "failed"; reason: string };

/** No event waits longer for its next attempt: that would only hide it. The budget ends sooner with sensible settings. */
export const LONGEST_WAIT_MS = 24 * 3_600_000;
