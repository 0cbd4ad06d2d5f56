/** Failures count for this long. */
export const WINDOW_MS = 5 * 60_000;

/**
 * An attempt whose process died never settles; after this long it counts as the failure it may have been, unless its server
 * has started again.
 */
export const STALE_ATTEMPT_MS = 60_000;

/** An address that logged in is known for this long. */
export const KNOWN_ADDRESS_MS = 30 * 86_400_000;

// Each failure is counted by the pair bucket of an address and an e-mail, and once more by the buckets of the two. Where
// failures are counted over all buckets these two are left out. Only their names have a colon.
export const EMAIL_BUCKET_PREFIX = "email:";
export const ADDRESS_BUCKET_PREFIX = "address:";

/** Whether a bucket counts the failures of one address at one e-mail. */
export const isPairBucket = (bucket: string) => !bucket.includes(":");

/** A count of failures with its bound. */
export interface Bucket {
  bucket: string;
  limit: number;
}

/** The buckets that count what one address does at one e-mail. */
export interface BucketNames {
  pair: string;
  /** Counts what others do at the e-mail, too. */
  email: string;
  /** Counts what the address does at other e-mails, too. */
  address: string;
}

/** What became of asking for places: they are held under these ids, or why not. */
export type Reservation =
  | { outcome: "reserved"; ids: number[] }
  /** As many attempts are under way as failures are left: ask again when one has ended. */
  | { outcome: "wait" }
  | { outcome: "throttled"; retryAfterMs: number };

/** What counts in all buckets together. */
export interface Totals {
  failures: number;
  /** How many pair buckets they are in. */
  buckets: number;
}

/**
 * Counts login failures over a sliding window. An attempt under way holds a place in each of its buckets, so that
 * parallel guesses cannot pass the bound. It becomes a failure unless it is released.
 */
export interface ThrottleStore {
  /**
   * How long until none of the buckets is full of failures, in milliseconds; 0 when none is. Takes no place; places that are
   * held no longer may be given back.
   */
  retryAfterMs(buckets: Bucket[], now: number): Promise<number>;
  /** Takes a place in every bucket, or in none. */
  reserve(buckets: Bucket[], now: number): Promise<Reservation>;
  /** Counts the attempt as a failure. */
  fail(ids: number[], now: number): Promise<void>;
  /** Takes the places back. */
  release(ids: number[]): Promise<void>;
  /** Remembers a bucket as one that logged in. */
  remember(bucket: string, now: number): Promise<void>;
  /** Whether the bucket logged in at or after a time. */
  isKnown(bucket: string, since: number): Promise<boolean>;
  /** How many failures of a bucket count now. Attempts under way are none. */
  failures(bucket: string, now: number): Promise<number>;
  /** All failures that count now, each once. */
  totals(now: number): Promise<Totals>;
  /** Forgets the attempts of one address, at its pair and in all, or those of everybody. Returns how many, each once. */
  clear(of: BucketNames | "all"): Promise<number>;
}

/** The part of a {@link ThrottleStore} that is on disk where attempts under way are kept in memory. */
export interface FailureStore
  extends Pick<ThrottleStore, "retryAfterMs" | "remember" | "isKnown" | "failures" | "totals" | "clear"> {
  /** Adds a failure to each bucket. */
  add(buckets: string[], at: number): Promise<void>;
}
