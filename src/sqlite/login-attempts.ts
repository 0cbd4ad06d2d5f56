import { type FailureStore, STALE_ATTEMPT_MS, type ThrottleStore } from "../auth/throttle/store.ts";
import { createCounts } from "../lib/counts.ts";
import type { SyncPort } from "./async-store.ts";

interface LoginAttempt {
  buckets: string[];
  at: number;
}

/**
 * Makes a throttle store from a failure store to which only this process adds. Login attempts in flight are kept in
 * memory, so a correct password does not wait for the disk. A crash forgets them: at most as many guesses as are hashed
 * at once. `reads` are synchronous, so that counting failures and taking a place happen in one turn of the event loop.
 */
export function withAttemptsInFlight(
  reads: SyncPort<Pick<FailureStore, "retryAfterMs" | "failures" | "isKnown" | "totals">>,
  writes: Pick<FailureStore, "add" | "remember" | "clear">,
): ThrottleStore {
  /** By id, oldest first. */
  const underWay = new Map<number, LoginAttempt>();
  const places = createCounts();
  /** Failures that could not be written. They are written before the next attempt may start. */
  const uncounted: LoginAttempt[] = [];
  let lastId = 0;

  /** Ends an attempt and returns its buckets, where its places stay taken. Returns none when it has ended already. */
  function end(id: number): string[] {
    const { buckets } = underWay.get(id) ?? { buckets: [] };
    underWay.delete(id);
    return buckets;
  }

  function free(buckets: string[]): void {
    for (const bucket of buckets) places.add(bucket, -1);
  }

  /** Stores a failure, and only then frees its places, so that no further attempt fits in between. */
  async function count(failure: LoginAttempt): Promise<void> {
    try {
      await writes.add(failure.buckets, failure.at);
    } catch (error) {
      uncounted.push(failure);
      throw error;
    }
    free(failure.buckets);
  }

  /** Ends attempts as failures. */
  async function fail(ids: number[], now: number): Promise<void> {
    for (const id of ids) {
      const buckets = end(id);
      if (buckets.length > 0) await count({ buckets, at: now });
    }
  }

  /** Stores failures that could not be stored before. An attempt that never ends counts as a failure. */
  async function countOverdue(now: number): Promise<void> {
    for (let failure = uncounted.shift(); failure; failure = uncounted.shift()) await count(failure);
    for (const [id, { at }] of underWay) {
      if (at > now - STALE_ATTEMPT_MS) return;
      await fail([id], at);
    }
  }

  return {
    async retryAfterMs(buckets, now) {
      await countOverdue(now);
      return reads.retryAfterMs(buckets, now);
    },
    async reserve(buckets, now) {
      await countOverdue(now);
      const retryAfterMs = reads.retryAfterMs(buckets, now);
      if (retryAfterMs > 0) return { outcome: "throttled", retryAfterMs };
      const isFull = buckets.some(({ bucket, limit }) => reads.failures(bucket, now) + places.of(bucket) >= limit);
      if (isFull) return { outcome: "wait" };
      const id = ++lastId;
      underWay.set(id, { buckets: buckets.map(({ bucket }) => bucket), at: now });
      for (const { bucket } of buckets) places.add(bucket, 1);
      return { outcome: "reserved", ids: [id] };
    },
    fail,
    async release(ids) {
      for (const id of ids) free(end(id));
    },
    remember: writes.remember,
    async isKnown(bucket, since) {
      return reads.isKnown(bucket, since);
    },
    async failures(bucket, now) {
      await countOverdue(now);
      return reads.failures(bucket, now);
    },
    async totals(now) {
      await countOverdue(now);
      return reads.totals(now);
    },
    clear: writes.clear,
  };
}
