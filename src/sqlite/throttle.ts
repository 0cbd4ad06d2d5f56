import {
  type Bucket,
  type BucketNames,
  type FailureStore,
  KNOWN_ADDRESS_MS,
  type ThrottleStore,
  type Totals,
  WINDOW_MS,
} from "../auth/throttle/store.ts";
import { atomic, type Database } from "./database.ts";
import { guardedMethods, promised, type Sync } from "./promised.ts";
import { countUnderWay } from "./throttle-attempts.ts";

// A window ends now, and not at its newest failure: after the clock was set back, failures that it dated later would
// count until it is there again.

/**
 * When the failure happened whose leaving the window brings a bucket below its bound: bucket, start of the window, now,
 * bound - 1. `+?` keeps SQLite from planning the statement again for each bucket and bound.
 */
const BOUNDARY = `
SELECT at FROM login_failures WHERE bucket = +? AND at > ? AND at <= ? ORDER BY at DESC LIMIT 1 OFFSET +?`;

/** Adds a failure. */
const ADD = `INSERT INTO login_failures (bucket, at) VALUES (?, ?)`;

/** Forgets failures from before the window, a hundred at most: far more than a failed login adds, and soon done. */
const FORGET = `DELETE FROM login_failures WHERE id IN (SELECT id FROM login_failures WHERE at <= ? ORDER BY at LIMIT 100)`;

/** Notes that an address has logged in at an e-mail, and when. */
const REMEMBER = `
INSERT INTO known_addresses (bucket, last_login_at) VALUES (?, ?)
ON CONFLICT (bucket) DO UPDATE SET last_login_at = excluded.last_login_at`;

/** Whether a bucket logged in at or after a time. */
const IS_KNOWN = `SELECT 1 FROM known_addresses WHERE bucket = ? AND last_login_at >= ?`;

/** Forgets addresses whose last login lies before a time. */
const FORGET_KNOWN = `DELETE FROM known_addresses WHERE last_login_at < ?`;

/** How many failures of a bucket are in the window: bucket, its start, now. */
const FAILURES = `SELECT count(*) FROM login_failures WHERE bucket = ? AND at > ? AND at <= ?`;

/** Leaves out the buckets of e-mails and addresses: they count every failure once more. */
const OF_PAIRS = `bucket NOT LIKE '%:%'`;

/** All failures in the window, each once, and how many buckets they are in: start of the window, now. */
const TOTALS = `
SELECT count(*) AS failures, count(DISTINCT bucket) AS buckets
FROM login_failures WHERE at > ? AND at <= ? AND ${OF_PAIRS}`;

/** Takes the failures of a pair out of the bucket of its e-mail: each was added there right behind the one here. */
const CLEAR_AT_EMAIL = `
DELETE FROM login_failures WHERE bucket = @email AND id - 1 IN (SELECT id FROM login_failures WHERE bucket = @pair)`;

/** Empties a bucket. */
const CLEAR = `DELETE FROM login_failures WHERE bucket = ?`;

/** How many failures {@link CLEAR_ALL} forgets, each once. */
const COUNT_ALL = `SELECT count(*) FROM login_failures WHERE ${OF_PAIRS}`;

/** Empties every bucket. */
const CLEAR_ALL = `DELETE FROM login_failures`;

/** Keeps the counts in the SQLite file: they outlive a restart. */
export function createSqliteThrottleStore(database: Database): ThrottleStore {
  const failures = sqliteFailures(database);
  return countUnderWay(guardedMethods(failures), promised<FailureStore>(failures));
}

/** The failures in the SQLite file, synchronous. */
export function sqliteFailures(database: Database): Sync<FailureStore> {
  const boundary = database.prepare(BOUNDARY).pluck();
  const add = database.prepare(ADD);
  const forget = database.prepare(FORGET);
  const remember = database.prepare(REMEMBER);
  const isKnown = database.prepare(IS_KNOWN);
  const failures = database.prepare(FAILURES).pluck();
  const totals = database.prepare<number[], Totals>(TOTALS);
  const clearAtEmail = database.prepare(CLEAR_AT_EMAIL);
  const clear = database.prepare(CLEAR);
  const forgetKnown = database.prepare(FORGET_KNOWN);
  const countAll = database.prepare(COUNT_ALL).pluck();
  const clearAll = database.prepare(CLEAR_ALL);

  function waitOf({ bucket, limit }: Bucket, now: number): number {
    const at = boundary.get(bucket, now - WINDOW_MS, now, limit - 1) as number | undefined;
    return at === undefined ? 0 : at + WINDOW_MS - now;
  }
  const addAll = atomic(database, (buckets: string[], at: number) => {
    forget.run(at - WINDOW_MS);
    for (const bucket of buckets) add.run(bucket, at);
  });
  const rememberOne = atomic(database, (bucket: string, now: number) => {
    forgetKnown.run(now - KNOWN_ADDRESS_MS);
    remember.run(bucket, now);
  });
  const clearEverything = atomic(database, () => {
    const cleared = countAll.get() as number;
    clearAll.run();
    return cleared;
  });
  const clearOne = atomic(database, ({ pair, email, address }: BucketNames) => {
    clearAtEmail.run({ pair, email });
    clear.run(pair);
    // Each failure of the pair is one of the address, too.
    return clear.run(address).changes;
  });

  return {
    retryAfterMs: (buckets, now) => Math.max(...buckets.map((bucket) => waitOf(bucket, now))),
    add: addAll,
    remember: rememberOne,
    isKnown: (bucket, since) => isKnown.get(bucket, since) !== undefined,
    failures: (bucket, now) => failures.get(bucket, now - WINDOW_MS, now) as number,
    totals: (now) => totals.get(now - WINDOW_MS, now) ?? { failures: 0, buckets: 0 },
    clear: (of) => (of === "all" ? clearEverything() : clearOne(of)),
  };
}
