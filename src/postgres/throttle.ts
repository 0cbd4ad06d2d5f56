import { randomInt, randomUUID } from "node:crypto";
import {
  type Bucket,
  KNOWN_ADDRESS_MS,
  longestWait,
  MAX_ATTEMPT_ID,
  MAX_SKEW_MS,
  STALE_ATTEMPT_MS,
  type ThrottleStore,
  type Totals,
  WINDOW_MS,
} from "../auth/throttle/store.ts";
import { once } from "../lib/once.ts";
import type { Postgres, Queries } from "./connection.ts";
import { columnsOf, integers, texts } from "./values.ts";

// A place in a bucket is a failure, or an attempt in flight, which becomes a failure when it is stale. Clocks of
// servers differ by less than the age of a stale attempt. Later times come from before a clock was set back and do not
// count.

/** A place counts as a failure: start of the window, its end, time before which attempts are stale. */
const isFailure = (since: string, until: string, stale: string) =>
  `at > ${since} AND at <= ${until} AND (NOT in_flight OR at <= ${stale})`;

/**
 * Measures buckets: buckets, limits, start of the window, its end, time before which attempts are stale. Returns the
 * places that are taken, and the time of the failure that keeps the bucket full.
 */
const MEASURE = `
SELECT "limit", (SELECT count(*) FROM authserve.login_places AS place
    WHERE place.bucket = measured.bucket AND at > $3 AND at <= $4) AS places,
  (SELECT at FROM authserve.login_places AS place WHERE place.bucket = measured.bucket AND ${isFailure("$3", "$4", "$5")}
    ORDER BY at DESC OFFSET "limit" - 1 LIMIT 1) AS "fullUntil"
FROM unnest($1::text[], $2::bigint[]) AS measured (bucket, "limit")`;

/**
 * Locks buckets until the end of the transaction, in order, and adds those that are missing: buckets. One statement,
 * because another server may remove an empty bucket between two. Locks that were then taken again, out of order,
 * deadlocked.
 */
const LOCK_BUCKETS = `
INSERT INTO authserve.login_buckets SELECT bucket FROM unnest($1::text[]) AS bucket ORDER BY bucket
ON CONFLICT (bucket) DO UPDATE SET bucket = excluded.bucket WHERE false`;

/**
 * Removes the empty ones of the next buckets in order: the last one of the page before. Returns the last one of this
 * page. A login adds five buckets at most, so that pages of 20 keep up. A bucket that an attempt has locked is left to
 * a later page.
 */
const REMOVE_EMPTY = `
WITH page AS MATERIALIZED (SELECT bucket FROM authserve.login_buckets WHERE bucket > $1 ORDER BY bucket LIMIT 20),
removed AS (
  DELETE FROM authserve.login_buckets WHERE bucket IN (
    SELECT known.bucket FROM authserve.login_buckets AS known JOIN page USING (bucket)
    WHERE NOT EXISTS (SELECT 1 FROM authserve.login_places AS place WHERE place.bucket = page.bucket)
    FOR UPDATE OF known SKIP LOCKED))
SELECT max(bucket) AS last FROM page`;

const RESERVE = `
INSERT INTO authserve.login_places (bucket, attempt, at, in_flight, server)
SELECT bucket, $2, $3, true, $4 FROM unnest($1::text[]) AS bucket`;

const FAIL = `
UPDATE authserve.login_places AS place SET in_flight = false, at = ended.at
FROM unnest($1::bigint[], $2::bigint[]) AS ended (attempt, at) WHERE place.attempt = ended.attempt AND in_flight`;

const RELEASE = `DELETE FROM authserve.login_places WHERE attempt = ANY($1::bigint[]) AND in_flight`;

const RELEASE_SERVER = `DELETE FROM authserve.login_places WHERE server = $1 AND in_flight`;

/** Removes some places from before the window, far more than one login adds: start of the window. */
const FORGET = `
DELETE FROM authserve.login_places WHERE (bucket, attempt) IN (
  SELECT bucket, attempt FROM authserve.login_places WHERE at <= $1 ORDER BY at LIMIT 100 FOR UPDATE SKIP LOCKED)`;

const REMEMBER = `
INSERT INTO authserve.known_addresses (bucket, last_login_at) VALUES ($1, $2)
ON CONFLICT (bucket) DO UPDATE SET last_login_at = excluded.last_login_at`;

const IS_KNOWN = `SELECT 1 FROM authserve.known_addresses WHERE bucket = $1 AND last_login_at >= $2`;

const FORGET_KNOWN = `DELETE FROM authserve.known_addresses WHERE last_login_at < $1`;

/** The failures of a bucket: bucket, then the window as in {@link MEASURE}. */
const FAILURES = `
SELECT count(*) AS failures FROM authserve.login_places WHERE bucket = $1 AND ${isFailure("$2", "$3", "$4")}`;

/** Excludes the buckets of e-mails and addresses, which count every failure again. */
const OF_PAIRS = `bucket NOT LIKE '%:%'`;

/** All failures, each counted once, and the number of their buckets: the window as in {@link MEASURE}. */
const TOTALS = `
SELECT count(*) AS failures, count(DISTINCT bucket) AS buckets FROM authserve.login_places
WHERE ${isFailure("$1", "$2", "$3")} AND ${OF_PAIRS}`;

/**
 * Empties the buckets of a pair and an address, and removes the pair's failures from those that others share: pair,
 * shared, address.
 */
const CLEAR_ADDRESS = `
WITH of_address AS (DELETE FROM authserve.login_places WHERE bucket = $3 RETURNING attempt),
of_pair AS (
  DELETE FROM authserve.login_places WHERE (bucket = $1 OR bucket = ANY($2::text[]))
    AND attempt IN (SELECT attempt FROM authserve.login_places WHERE bucket = $1)),
of_codes AS (DELETE FROM authserve.login_places WHERE bucket = $4 RETURNING attempt)
SELECT greatest((SELECT count(*) FROM of_address), (SELECT count(*) FROM of_codes)) AS cleared`;

/** Empties every bucket. Returns the number of places, each counted once. */
const CLEAR_ALL = `
WITH cleared AS (DELETE FROM authserve.login_places RETURNING bucket)
SELECT count(*) FILTER (WHERE ${OF_PAIRS}) AS cleared FROM cleared`;

/** An attempt that has ended, but could not be written. Its places would become failures. */
interface Unsettled {
  id: number;
  /** When it failed. Null if its places are released. */
  failedAt: number | null;
}

/**
 * Keeps the counts in PostgreSQL, for all servers that share it.
 *
 * `server` names a server that runs as one process at a time. Before the first attempt, places of a killed predecessor
 * are released, or a crash loop would lock everyone out. At most as many guesses as are hashed at once go uncounted.
 */
export function createPostgresThrottleStore(postgres: Postgres, server: string = randomUUID()): ThrottleStore {
  /** Attempts in flight of this process, with the times when they took their places. */
  const inFlight = new Map<number, number>();
  let unsettled: Unsettled[] = [];
  /** Up to this bucket, empty ones have been removed. */
  let cleanedTo = "";

  const releaseEarlier = once(async () => {
    await postgres.run(RELEASE_SERVER, [server]);
  });

  /** Ends attempts. The default time is when they took their places. */
  async function end(ids: readonly number[], failedAt: (at: number) => number | null): Promise<void> {
    const ended = ids.flatMap((id) => {
      const at = inFlight.get(id);
      inFlight.delete(id);
      return at === undefined ? [] : [{ id, failedAt: failedAt(at) }];
    });
    await settle(ended);
  }

  async function settle(ended: readonly Unsettled[]): Promise<void> {
    const failed = ended.filter(({ failedAt }) => failedAt !== null);
    const released = ended.filter(({ failedAt }) => failedAt === null);
    try {
      const idsOf = (attempts: readonly Unsettled[]) => integers(attempts.map(({ id }) => id));
      if (released.length > 0) await postgres.run(RELEASE, [idsOf(released)]);
      if (failed.length > 0)
        await postgres.run(FAIL, [idsOf(failed), integers(failed.map(({ failedAt }) => failedAt))]);
    } catch (error) {
      // Both statements may be repeated.
      unsettled.push(...ended);
      throw error;
    }
  }

  /** Ends attempts from the time when the database did not answer. */
  async function settleEarlier(): Promise<void> {
    const waiting = unsettled;
    unsettled = [];
    if (waiting.length > 0) await settle(waiting);
  }

  async function before(): Promise<void> {
    await releaseEarlier();
    await settleEarlier();
  }

  return {
    async retryAfterMs(buckets, now) {
      await before();
      return longestWait(fullUntil(await measure(postgres, buckets, now)), now);
    },
    async reserve(buckets, now) {
      await before();
      const id = randomInt(MAX_ATTEMPT_ID);
      try {
        const outcome = await postgres.transaction((queries) =>
          reserve(queries, buckets, now, { id, server, cleanedTo }),
        );
        if (outcome.outcome !== "reserved") return outcome;
        cleanedTo = outcome.cleanedTo;
      } catch (error) {
        // It may have been committed.
        unsettled.push({ id, failedAt: null });
        throw error;
      }
      inFlight.set(id, now);
      return { outcome: "reserved", ids: [id] };
    },
    fail: (ids, now) => end(ids, () => now),
    release: (ids) => end(ids, () => null),
    remember: (bucket, now) => rememberBucket(postgres, bucket, now),
    isKnown: async (bucket, since) => (await postgres.rows(IS_KNOWN, [bucket, since])).length > 0,
    async failures(bucket, now) {
      const [row] = await postgres.rows<{ failures: number }>(FAILURES, [bucket, ...windowAt(now)]);
      return row?.failures ?? 0;
    },
    async totals(now) {
      const [row] = await postgres.rows<Totals>(TOTALS, windowAt(now));
      return row ?? { failures: 0, buckets: 0 };
    },
    async clear(of) {
      const statement = of === "all" ? CLEAR_ALL : CLEAR_ADDRESS;
      const values = of === "all" ? [] : [of.pair, texts([of.email, ...of.networks]), of.address, of.codes];
      const [row] = await postgres.rows<{ cleared: number }>(statement, values);
      return row?.cleared ?? 0;
    },
  };
}

/** Stores that the address of a bucket has logged in. */
export async function rememberBucket(queries: Queries, bucket: string, now: number): Promise<void> {
  await Promise.all([queries.run(REMEMBER, [bucket, now]), queries.run(FORGET_KNOWN, [now - KNOWN_ADDRESS_MS])]);
}

/** The start of the window, the end, and the time before which an attempt in flight counts as a failure. */
const windowAt = (now: number) => [now - WINDOW_MS, now + STALE_ATTEMPT_MS, now - STALE_ATTEMPT_MS];

const fullUntil = (rows: readonly MeasuredRow[]) => rows.map((row) => row.fullUntil);

interface MeasuredRow {
  limit: number;
  places: number;
  /** The time of the failure that keeps the bucket full. Null if it is below its limit. */
  fullUntil: number | null;
}

function measure(queries: Queries, buckets: readonly Bucket[], now: number): Promise<MeasuredRow[]> {
  return queries.rows<MeasuredRow>(MEASURE, [...columnsOf(buckets, BUCKET), ...windowAt(now)]);
}

const BUCKET = { bucket: texts, limit: integers };

type Outcome =
  | { outcome: "reserved"; cleanedTo: string }
  | { outcome: "wait" }
  | { outcome: "throttled"; retryAfterMs: number };

/** Reserves places in a transaction. A statement after the locks sees what other servers have reserved. */
async function reserve(
  queries: Queries,
  buckets: readonly Bucket[],
  now: number,
  attempt: { id: number; server: string; cleanedTo: string },
): Promise<Outcome> {
  const [names] = columnsOf(buckets, BUCKET);
  void queries.run(LOCK_BUCKETS, [names]);
  const rows = await measure(queries, buckets, now);
  const retryAfterMs = longestWait(fullUntil(rows), now);
  if (retryAfterMs > 0) return { outcome: "throttled", retryAfterMs };
  if (rows.some(({ limit, places }) => places >= limit)) return { outcome: "wait" };
  const [, , [page]] = await Promise.all([
    queries.run(RESERVE, [names, attempt.id, now, attempt.server]),
    queries.run(FORGET, [now - WINDOW_MS - MAX_SKEW_MS]),
    // After the reservation: its own buckets are no longer empty.
    queries.rows<{ last: string | null }>(REMOVE_EMPTY, [attempt.cleanedTo]),
  ]);
  // After the last page the first one follows.
  return { outcome: "reserved", cleanedTo: page?.last ?? "" };
}
