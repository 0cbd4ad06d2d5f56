/** How long a failure counts. */
export const WINDOW_MS = 5 * 60_000;

/**
 * After this time an attempt whose process died counts as a failure, unless its server has started again.
 */
export const STALE_ATTEMPT_MS = 60_000;

/**
 * Clocks of servers that share a store may differ. A failure is removed this long after it has left the window. So a
 * server whose clock is ahead removes none that still count for others.
 */
export const MAX_SKEW_MS = 15 * 60_000;

/** Ids of attempts in a store that servers share are random, and at most this. */
export const MAX_ATTEMPT_ID = 2 ** 48 - 1;

/** How long an address is known after a login. */
export const KNOWN_ADDRESS_MS = 30 * 86_400_000;

// Several buckets count each failure: that of the pair of address and e-mail, that of the e-mail, those of wider
// networks of an IPv6 address, and that of the address. Wrong codes count in one more. Totals count the pair buckets
// only. Only the names of the others have a colon.
export const EMAIL_BUCKET_PREFIX = "email:";
export const NETWORK_BUCKET_PREFIX = "network:";
export const ADDRESS_BUCKET_PREFIX = "address:";
export const CODE_BUCKET_PREFIX = "code:";

/** Whether a bucket counts the failures of one address at one e-mail. */
export const isPairBucket = (bucket: string) => !bucket.includes(":");

/** A count of failures with its limit. */
export interface Bucket {
  bucket: string;
  limit: number;
}

/** How long an attempt waits, given for each bucket the time of the failure that keeps it full, or null. */
export function longestWait(fullUntil: readonly (number | null)[], now: number): number {
  return Math.max(0, ...fullUntil.map((at) => (at === null ? 0 : Math.min(at, now) + WINDOW_MS - now)));
}

/** The names of the buckets that count failures of one address at one e-mail. */
export interface BucketNames {
  pair: string;
  /** Counts the failures of all addresses at the e-mail. */
  email: string;
  /** Count the failures of wider networks of the address at the e-mail, in this order behind that of the e-mail. */
  networks: readonly string[];
  /** Counts the failures of the address at all e-mails. */
  address: string;
  /** Counts the wrong codes of all unknown clients. */
  codes: string;
}

/** The result of {@link ThrottleStore.reserve}. */
export type Reservation =
  | { outcome: "reserved"; ids: number[] }
  /** The attempts in progress could use up the limit. Try again when one has ended. */
  | { outcome: "wait" }
  | { outcome: "throttled"; retryAfterMs: number };

/** The failures of all buckets together. */
export interface Totals {
  failures: number;
  /** The number of pair buckets with failures. */
  buckets: number;
}

/**
 * Counts login failures over a sliding window. An attempt in progress holds a reservation in each of its buckets, so
 * that parallel guesses cannot exceed the limit. The reservation becomes a failure unless it is released.
 */
export interface ThrottleStore {
  /**
   * Returns the milliseconds until every bucket is below its limit; 0 if all are. It reserves nothing, but may release
   * stale reservations.
   */
  retryAfterMs(buckets: Bucket[], now: number): Promise<number>;
  /** Reserves a failure in every bucket, or in none. */
  reserve(buckets: Bucket[], now: number): Promise<Reservation>;
  /** Turns the reservations into failures. */
  fail(ids: number[], now: number): Promise<void>;
  /** Removes the reservations. */
  release(ids: number[]): Promise<void>;
  /** Stores that the address of a pair bucket has logged in. */
  remember(bucket: string, now: number): Promise<void>;
  /** Whether the address of a pair bucket logged in at or after a time. */
  isKnown(bucket: string, since: number): Promise<boolean>;
  /** Returns the current failures of a bucket, without reservations. */
  failures(bucket: string, now: number): Promise<number>;
  /** Returns all current failures, each counted once. */
  totals(now: number): Promise<Totals>;
  /**
   * Deletes the attempts of an address in the given buckets and all wrong codes, or all attempts. Returns their number,
   * each counted once.
   */
  clear(of: BucketNames | "all"): Promise<number>;
}

/** The persistent part of a {@link ThrottleStore} that keeps reservations in memory. */
export interface FailureStore
  extends Pick<ThrottleStore, "retryAfterMs" | "remember" | "isKnown" | "failures" | "totals" | "clear"> {
  /** Adds a failure to each bucket. */
  add(buckets: string[], at: number): Promise<void>;
}
