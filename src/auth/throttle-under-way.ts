import type { Sync } from "../promised.ts";
import { type FailureStore, STALE_ATTEMPT_MS, type ThrottleStore } from "./throttle-store.ts";

interface Attempt {
  buckets: string[];
  at: number;
}

/**
 * Makes a throttle of a store of failures that only this process counts on: attempts under way are kept in memory, so
 * that a right password costs no wait for the disk here. A crash forgets them, which are as many guesses as hashes run
 * at once.
 *
 * `reads` answer at once: a place is taken in the same turn in which the failures were counted.
 */
export function countUnderWay(
  reads: Sync<Pick<FailureStore, "wait" | "failures" | "isKnown" | "totals">>,
  writes: Pick<FailureStore, "add" | "remember" | "clear">,
): ThrottleStore {
  /** By id, oldest first. */
  const underWay = new Map<number, Attempt>();
  const places = new Map<string, number>();
  let lastId = 0;

  function free(id: number): void {
    for (const bucket of underWay.get(id)?.buckets ?? []) {
      const left = (places.get(bucket) ?? 0) - 1;
      if (left > 0) places.set(bucket, left);
      else places.delete(bucket);
    }
    underWay.delete(id);
  }

  /** Ends attempts as failures. Their places are free when the failures count, so that no moment lets one more through. */
  async function fail(ids: number[], now: number): Promise<void> {
    for (const id of ids) {
      const attempt = underWay.get(id);
      if (attempt) await writes.add(attempt.buckets, now);
      free(id);
    }
  }

  /** An attempt that never ends counts as the failure it may be. */
  async function failStale(now: number): Promise<void> {
    for (const [id, { at }] of underWay) {
      if (at > now - STALE_ATTEMPT_MS) return;
      await fail([id], at);
    }
  }

  return {
    async wait(buckets, now) {
      await failStale(now);
      return reads.wait(buckets, now);
    },
    async reserve(buckets, now) {
      await failStale(now);
      const retryAfterMs = reads.wait(buckets, now);
      if (retryAfterMs > 0) return { outcome: "throttled", retryAfterMs };
      const isFull = buckets.some(
        ({ bucket, limit }) => reads.failures(bucket, now) + (places.get(bucket) ?? 0) >= limit,
      );
      if (isFull) return { outcome: "wait" };
      const id = ++lastId;
      underWay.set(id, { buckets: buckets.map(({ bucket }) => bucket), at: now });
      for (const { bucket } of buckets) places.set(bucket, (places.get(bucket) ?? 0) + 1);
      return { outcome: "reserved", ids: [id] };
    },
    fail,
    async release(ids) {
      for (const id of ids) free(id);
    },
    remember: writes.remember,
    async isKnown(bucket, since) {
      return reads.isKnown(bucket, since);
    },
    async failures(bucket, now) {
      await failStale(now);
      return reads.failures(bucket, now);
    },
    async totals(now) {
      await failStale(now);
      return reads.totals(now);
    },
    clear: writes.clear,
  };
}
