import { promised, type Sync } from "../promised.ts";
import { type Database, guarded } from "../sqlite/database.ts";
import { type Bucket, STALE_ATTEMPT_MS, type ThrottleStore, type Totals, WINDOW_MS } from "./throttle-store.ts";

/** Failures and attempts under way. */
const PLACES_TAKEN = `SELECT count(*) FROM login_failures WHERE bucket = @bucket AND at > @since`;

/** The failure whose leaving the window brings the bucket below its bound. */
const BOUNDARY = `
SELECT at FROM login_failures WHERE bucket = @bucket AND at > @since AND (settled = 1 OR at <= @stale)
ORDER BY at DESC LIMIT 1 OFFSET @offset`;

const RESERVE = `INSERT INTO login_failures (bucket, at, settled) VALUES (@bucket, @now, 0)`;
const FAIL = `UPDATE login_failures SET settled = 1, at = @now WHERE id = @id`;
const RELEASE = `DELETE FROM login_failures WHERE id = ?`;

/** Forgets what has left the window, so that the table holds no more than the hashes of five minutes. */
const FORGET = `DELETE FROM login_failures WHERE id IN (SELECT id FROM login_failures WHERE at <= ? ORDER BY at LIMIT 100)`;

const REMEMBER = `
INSERT INTO known_addresses (bucket, last_login_at) VALUES (?, ?)
ON CONFLICT (bucket) DO UPDATE SET last_login_at = excluded.last_login_at`;

const IS_KNOWN = `SELECT 1 FROM known_addresses WHERE bucket = ? AND last_login_at >= ?`;

const SETTLED = `at > @since AND (settled = 1 OR at <= @stale)`;
const FAILURES = `SELECT count(*) FROM login_failures WHERE bucket = @bucket AND ${SETTLED}`;
const TOTALS = `SELECT count(*) AS failures, count(DISTINCT bucket) AS buckets FROM login_failures WHERE ${SETTLED}`;
const CLEAR = `DELETE FROM login_failures WHERE bucket = ?`;
const CLEAR_ALL = `DELETE FROM login_failures`;

/** Keeps the counts in the SQLite file: they outlive a restart. */
export function createSqliteThrottleStore(database: Database): ThrottleStore {
  return promised<ThrottleStore>(sqliteThrottle(database));
}

/** The throttle's SQLite store, synchronous. */
export function sqliteThrottle(database: Database): Sync<ThrottleStore> {
  const placesTaken = database.prepare(PLACES_TAKEN).pluck();
  const boundary = database.prepare(BOUNDARY).pluck();
  const insert = database.prepare(RESERVE);
  const fail = database.prepare(FAIL);
  const release = database.prepare(RELEASE);
  const forget = database.prepare(FORGET);
  const remember = database.prepare(REMEMBER);
  const isKnown = database.prepare(IS_KNOWN);

  const failures = database.prepare(FAILURES).pluck();
  const totals = database.prepare<object, Totals>(TOTALS);
  const clear = database.prepare(CLEAR);
  const clearAll = database.prepare(CLEAR_ALL);

  const windowAt = (now: number) => ({ since: now - WINDOW_MS, stale: now - STALE_ATTEMPT_MS });
  function waitOf({ bucket, limit }: Bucket, now: number): number {
    const at = boundary.get({ bucket, ...windowAt(now), offset: limit - 1 }) as number | undefined;
    return at === undefined ? 0 : at + WINDOW_MS - now;
  }
  const longestWait = (buckets: Bucket[], now: number) => Math.max(...buckets.map((bucket) => waitOf(bucket, now)));

  const reserve = database.transaction((buckets: Bucket[], now: number) => {
    forget.run(now - WINDOW_MS);
    const retryAfterMs = longestWait(buckets, now);
    if (retryAfterMs > 0) return { outcome: "throttled", retryAfterMs } as const;
    const isFull = ({ bucket, limit }: Bucket) =>
      (placesTaken.get({ bucket, since: now - WINDOW_MS }) as number) >= limit;
    if (buckets.some(isFull)) return { outcome: "wait" } as const;
    const ids = buckets.map(({ bucket }) => Number(insert.run({ bucket, now }).lastInsertRowid));
    return { outcome: "reserved", ids } as const;
  });
  const failAll = database.transaction((ids: number[], now: number) => {
    for (const id of ids) fail.run({ id, now });
  });
  const releaseAll = database.transaction((ids: number[]) => {
    for (const id of ids) release.run(id);
  });

  const clearEach = database.transaction((buckets: string[]) => {
    let cleared = 0;
    for (const bucket of buckets) cleared += clear.run(bucket).changes;
    return cleared;
  });

  return {
    wait(buckets, now) {
      return guarded(() => longestWait(buckets, now));
    },
    reserve(buckets, now) {
      return guarded(() => reserve.immediate(buckets, now));
    },
    fail(ids, now) {
      guarded(() => failAll.immediate(ids, now));
    },
    release(ids) {
      guarded(() => releaseAll.immediate(ids));
    },
    remember(bucket, now) {
      guarded(() => remember.run(bucket, now));
    },
    isKnown(bucket, since) {
      return guarded(() => isKnown.get(bucket, since) !== undefined);
    },
    failures(bucket, now) {
      return guarded(() => failures.get({ bucket, ...windowAt(now) }) as number);
    },
    totals(now) {
      return guarded(() => totals.get(windowAt(now)) ?? { failures: 0, buckets: 0 });
    },
    clear(buckets) {
      return guarded(() => (buckets === "all" ? clearAll.run().changes : clearEach.immediate(buckets)));
    },
  };
}
