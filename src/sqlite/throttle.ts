import {
  type Bucket,
  type BucketNames,
  type FailureStore,
  KNOWN_ADDRESS_MS,
  longestWait,
  type ThrottleStore,
  type Totals,
  WINDOW_MS,
} from "../auth/throttle/store.ts";
import { asAsync, type SyncPort, translatingErrors } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { withAttemptsInFlight } from "./login-attempts.ts";

// Failures later than now are ignored. After the clock is set back, they would count until it reaches their time again.

/** Excludes the buckets of e-mails and addresses, which count every failure again. */
const OF_PAIRS = `bucket NOT LIKE '%:%'`;

/** Keeps the counts in the SQLite file, so that they outlive a restart. */
export function createSqliteThrottleStore(database: Database): ThrottleStore {
  const failures = sqliteFailures(database);
  return withAttemptsInFlight(translatingErrors(failures), asAsync<FailureStore>(failures));
}

/** The synchronous form of the failure store in the SQLite file. */
export function sqliteFailures(database: Database): SyncPort<FailureStore> {
  // The time of the failure that keeps a bucket full: the bucket is below its limit once this failure leaves the
  // window. `+?` keeps SQLite from planning the statement again for each value.
  const boundary = database
    .prepare<unknown[], number>(
      "SELECT at FROM login_failures WHERE bucket = +? AND at > ? AND at <= ? ORDER BY at DESC LIMIT 1 OFFSET +?",
    )
    .pluck();
  const add = database.prepare("INSERT INTO login_failures (bucket, at) VALUES (?, ?)");
  // Deletes up to 100 failures from before the window: quick, and far more than a failed login adds.
  const forget = database.prepare(
    "DELETE FROM login_failures WHERE id IN (SELECT id FROM login_failures WHERE at <= ? ORDER BY at LIMIT 100)",
  );
  const remember = database.prepare(`
    INSERT INTO known_addresses (bucket, last_login_at) VALUES (?, ?)
    ON CONFLICT (bucket) DO UPDATE SET last_login_at = excluded.last_login_at`);
  const isKnown = database.prepare("SELECT 1 FROM known_addresses WHERE bucket = ? AND last_login_at >= ?");
  const failures = database
    .prepare("SELECT count(*) FROM login_failures WHERE bucket = ? AND at > ? AND at <= ?")
    .pluck();
  const totals = database.prepare<number[], Totals>(`
    SELECT count(*) AS failures, count(DISTINCT bucket) AS buckets
    FROM login_failures WHERE at > ? AND at <= ? AND ${OF_PAIRS}`);
  // Deletes the failures of a pair from a bucket that others share. Each has an id after that of the pair's failure:
  // the one of the e-mail follows it, then those of the networks.
  const clearShared = database.prepare(`
    DELETE FROM login_failures
    WHERE bucket = @shared AND id - @distance IN (SELECT id FROM login_failures WHERE bucket = @pair)`);
  const clear = database.prepare("DELETE FROM login_failures WHERE bucket = ?");
  const forgetKnown = database.prepare("DELETE FROM known_addresses WHERE last_login_at < ?");
  const countAll = database.prepare(`SELECT count(*) FROM login_failures WHERE ${OF_PAIRS}`).pluck();
  const clearAll = database.prepare("DELETE FROM login_failures");

  const fullUntil = ({ bucket, limit }: Bucket, now: number) =>
    boundary.get(bucket, now - WINDOW_MS, now, limit - 1) ?? null;
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
  const clearOne = atomic(database, ({ pair, email, networks, address, codes }: BucketNames) => {
    for (const [index, shared] of [email, ...networks].entries())
      clearShared.run({ pair, shared, distance: index + 1 });
    clear.run(pair);
    // Each failure of the pair is also in the bucket of the address.
    return Math.max(clear.run(address).changes, clear.run(codes).changes);
  });

  return {
    retryAfterMs: (buckets, now) =>
      longestWait(
        buckets.map((bucket) => fullUntil(bucket, now)),
        now,
      ),
    add: addAll,
    remember: rememberOne,
    isKnown: (bucket, since) => isKnown.get(bucket, since) !== undefined,
    failures: (bucket, now) => failures.get(bucket, now - WINDOW_MS, now) as number,
    totals: (now) => totals.get(now - WINDOW_MS, now) ?? { failures: 0, buckets: 0 },
    clear: (of) => (of === "all" ? clearEverything() : clearOne(of)),
  };
}
