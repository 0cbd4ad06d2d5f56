import { randomInt, randomUUID } from "node:crypto";
import {
  type Bucket,
  KNOWN_ADDRESS_MS,
  longestWait,
  STALE_ATTEMPT_MS,
  type ThrottleStore,
  type Totals,
  WINDOW_MS,
} from "../auth/throttle/store.ts";
import { once } from "../lib/once.ts";
import type { Postgres, Queries } from "./connection.ts";
import * as sql from "./throttle-sql.ts";
import { columnsOf, integers, texts } from "./values.ts";

const MAX_ID = 2 ** 48 - 1;

// Clocks of servers may differ. Failures are removed this long after they have left the window. So a server whose clock
// is ahead does not remove those that still count for others.
const MAX_SKEW_MS = 15 * 60_000;

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
  const held = new Map<number, number>();
  let unsettled: Unsettled[] = [];
  /** Up to this bucket, empty ones have been removed. */
  let cleanedTo = "";

  const releaseEarlier = once(async () => {
    await postgres.run(sql.RELEASE_SERVER, [server]);
  });

  /** Ends attempts. The default time is when they took their places. */
  async function end(ids: readonly number[], failedAt: (at: number) => number | null): Promise<void> {
    const ended = ids.flatMap((id) => {
      const at = held.get(id);
      held.delete(id);
      return at === undefined ? [] : [{ id, failedAt: failedAt(at) }];
    });
    await settle(ended);
  }

  async function settle(ended: readonly Unsettled[]): Promise<void> {
    const failed = ended.filter(({ failedAt }) => failedAt !== null);
    const released = ended.filter(({ failedAt }) => failedAt === null);
    try {
      const idsOf = (attempts: readonly Unsettled[]) => integers(attempts.map(({ id }) => id));
      if (released.length > 0) await postgres.run(sql.RELEASE, [idsOf(released)]);
      if (failed.length > 0)
        await postgres.run(sql.FAIL, [idsOf(failed), integers(failed.map(({ failedAt }) => failedAt))]);
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
      const id = randomInt(MAX_ID);
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
      held.set(id, now);
      return { outcome: "reserved", ids: [id] };
    },
    fail: (ids, now) => end(ids, () => now),
    release: (ids) => end(ids, () => null),
    async remember(bucket, now) {
      await Promise.all([
        postgres.run(sql.REMEMBER, [bucket, now]),
        postgres.run(sql.FORGET_KNOWN, [now - KNOWN_ADDRESS_MS]),
      ]);
    },
    isKnown: async (bucket, since) => (await postgres.rows(sql.IS_KNOWN, [bucket, since])).length > 0,
    async failures(bucket, now) {
      const [row] = await postgres.rows<{ failures: number }>(sql.FAILURES, [bucket, ...windowAt(now)]);
      return row?.failures ?? 0;
    },
    async totals(now) {
      const [row] = await postgres.rows<Totals>(sql.TOTALS, windowAt(now));
      return row ?? { failures: 0, buckets: 0 };
    },
    async clear(of) {
      const statement = of === "all" ? sql.CLEAR_ALL : sql.CLEAR_ADDRESS;
      const values = of === "all" ? [] : [of.pair, texts([of.email, ...of.networks]), of.address];
      const [row] = await postgres.rows<{ cleared: number }>(statement, values);
      return row?.cleared ?? 0;
    },
  };
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
  return queries.rows<MeasuredRow>(sql.MEASURE, [...columnsOf(buckets, BUCKET), ...windowAt(now)]);
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
  void queries.run(sql.LOCK_BUCKETS, [names]);
  const rows = await measure(queries, buckets, now);
  const retryAfterMs = longestWait(fullUntil(rows), now);
  if (retryAfterMs > 0) return { outcome: "throttled", retryAfterMs };
  if (rows.some(({ limit, places }) => places >= limit)) return { outcome: "wait" };
  const [, , [page]] = await Promise.all([
    queries.run(sql.RESERVE, [names, attempt.id, now, attempt.server]),
    queries.run(sql.FORGET, [now - WINDOW_MS - MAX_SKEW_MS]),
    // After the reservation: its own buckets are no longer empty.
    queries.rows<{ last: string | null }>(sql.REMOVE_EMPTY, [attempt.cleanedTo]),
  ]);
  // After the last page the first one follows.
  return { outcome: "reserved", cleanedTo: page?.last ?? "" };
}
