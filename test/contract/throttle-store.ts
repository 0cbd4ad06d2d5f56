import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Bucket, type Reservation, type ThrottleStore, WINDOW_MS } from "../../src/auth/throttle/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;
const bucket = (name: string, limit = 3): Bucket => ({ bucket: name, limit });

function ids(reservation: Reservation): number[] {
  assert.equal(reservation.outcome, "reserved");
  return reservation.outcome === "reserved" ? reservation.ids : [];
}

/** The contract of every throttle store. `open` returns an empty one, which is closed after the test. */
export function throttleStoreContract(adapter: string, open: (context: Cleanup) => Promise<ThrottleStore>): void {
  async function failTimes(store: ThrottleStore, times: number, buckets: Bucket[], at = NOW): Promise<void> {
    for (let i = 0; i < times; i++) await store.fail(ids(await store.reserve(buckets, at)), at);
  }

  suite(`throttle store: ${adapter}`, () => {
    test("an empty bucket requires no wait", async (t) => {
      const store = await open(t);
      assert.equal(await store.retryAfterMs([bucket("a")], NOW), 0);
      assert.equal((await store.reserve([bucket("a")], NOW)).outcome, "reserved");
    });

    test("buckets whose names differ in case or form are apart", async (t) => {
      const store = await open(t);
      await failTimes(store, 1, [bucket("é", 1)]);
      for (const name of ["É", "e\u0301", "e"]) assert.equal(await store.retryAfterMs([bucket(name, 1)], NOW), 0, name);
      assert.equal(await store.retryAfterMs([bucket("é", 1)], NOW), WINDOW_MS);
    });

    test("failures of one time leave the window together", async (t) => {
      const store = await open(t);
      await failTimes(store, 3, [bucket("a"), bucket("b")]);
      const buckets = [bucket("a"), bucket("b"), bucket("c", Number.MAX_SAFE_INTEGER)];
      assert.equal(await store.retryAfterMs(buckets, NOW + WINDOW_MS - 1), 1);
      assert.equal(await store.retryAfterMs(buckets, NOW + WINDOW_MS), 0);
      assert.equal(await store.retryAfterMs([], NOW), 0);
    });

    test("a bucket full of failures refuses, and gives the wait", async (t) => {
      const store = await open(t);
      await failTimes(store, 2, [bucket("a")]);
      assert.equal(await store.retryAfterMs([bucket("a")], NOW), 0);
      await failTimes(store, 1, [bucket("a")]);
      assert.equal(await store.retryAfterMs([bucket("a")], NOW + 1000), WINDOW_MS - 1000);
      assert.deepEqual(await store.reserve([bucket("a")], NOW + 1000), {
        outcome: "throttled",
        retryAfterMs: WINDOW_MS - 1000,
      });
    });

    test("a failure leaves the window five minutes after it happened, one by one", async (t) => {
      const store = await open(t);
      for (const at of [NOW, NOW + 1000, NOW + 2000]) await failTimes(store, 1, [bucket("a")], at);
      assert.equal(await store.retryAfterMs([bucket("a")], NOW + WINDOW_MS - 1), 1);
      assert.equal(await store.retryAfterMs([bucket("a")], NOW + WINDOW_MS), 0);
      await failTimes(store, 1, [bucket("a")], NOW + WINDOW_MS);
      assert.equal(await store.retryAfterMs([bucket("a")], NOW + WINDOW_MS), 1000);
    });

    test("a failure counts from the end of the attempt, not from its beginning", async (t) => {
      const store = await open(t);
      const places = ids(await store.reserve([bucket("a", 1)], NOW));
      await store.fail(places, NOW + 4000);
      assert.equal(await store.retryAfterMs([bucket("a", 1)], NOW + WINDOW_MS), 4000);
    });

    test("attempts in flight hold their places: the next one waits and is not refused", async (t) => {
      const store = await open(t);
      const held = [];
      for (let i = 0; i < 3; i++) held.push(ids(await store.reserve([bucket("a")], NOW)));
      assert.deepEqual(await store.reserve([bucket("a")], NOW), { outcome: "wait" });
      assert.equal(await store.retryAfterMs([bucket("a")], NOW), 0);
      await store.release(held[0] ?? []);
      assert.equal((await store.reserve([bucket("a")], NOW)).outcome, "reserved");
    });

    test("a released place leaves no failure", async (t) => {
      const store = await open(t);
      for (let i = 0; i < 20; i++) await store.release(ids(await store.reserve([bucket("a")], NOW)));
      assert.equal(await store.retryAfterMs([bucket("a")], NOW), 0);
      await failTimes(store, 3, [bucket("a")]);
    });

    test("an attempt that never ended counts as the failure it may have been", async (t) => {
      const store = await open(t);
      for (let i = 0; i < 3; i++) await store.reserve([bucket("a")], NOW);
      const later = NOW + 2 * 60_000;
      assert.ok((await store.retryAfterMs([bucket("a")], later)) > 0);
      assert.equal((await store.reserve([bucket("a")], later)).outcome, "throttled");
      assert.equal((await store.reserve([bucket("a")], NOW + WINDOW_MS + 60_000)).outcome, "reserved");
    });

    test("a place is taken in every bucket or in none", async (t) => {
      const store = await open(t);
      await failTimes(store, 3, [bucket("full")]);
      for (let i = 0; i < 5; i++) {
        assert.equal((await store.reserve([bucket("free"), bucket("full")], NOW)).outcome, "throttled");
      }
      for (let i = 0; i < 3; i++) assert.equal((await store.reserve([bucket("free")], NOW)).outcome, "reserved");
      assert.deepEqual(await store.reserve([bucket("free"), bucket("other", 1)], NOW), { outcome: "wait" });
      assert.equal((await store.reserve([bucket("other", 1)], NOW)).outcome, "reserved");
    });

    test("with several full buckets the longest wait applies", async (t) => {
      const store = await open(t);
      await failTimes(store, 1, [bucket("a", 1)], NOW);
      await failTimes(store, 1, [bucket("b", 1)], NOW + 5000);
      assert.equal(await store.retryAfterMs([bucket("a", 1), bucket("b", 1)], NOW + 5000), WINDOW_MS);
    });

    test("buckets do not affect each other", async (t) => {
      const store = await open(t);
      await failTimes(store, 3, [bucket("a")]);
      assert.equal(await store.retryAfterMs([bucket("b")], NOW), 0);
    });

    test("parallel reservations never take more places than there are", async (t) => {
      const store = await open(t);
      const outcomes = await Promise.all(Array.from({ length: 30 }, () => store.reserve([bucket("a", 10)], NOW)));
      assert.equal(outcomes.filter(({ outcome }) => outcome === "reserved").length, 10);
      assert.equal(outcomes.filter(({ outcome }) => outcome === "wait").length, 20);
    });

    test("asking how long to wait takes no place", async (t) => {
      const store = await open(t);
      for (let i = 0; i < 20; i++) await store.retryAfterMs([bucket("a", 1)], NOW);
      assert.equal((await store.reserve([bucket("a", 1)], NOW)).outcome, "reserved");
    });

    test("an address is known since its login", async (t) => {
      const store = await open(t);
      assert.equal(await store.isKnown("a", 0), false);
      await store.remember("a", NOW);
      assert.equal(await store.isKnown("a", NOW), true);
      assert.equal(await store.isKnown("a", NOW + 1), false);
      assert.equal(await store.isKnown("b", 0), false);
      await store.remember("a", NOW + 10);
      assert.equal(await store.isKnown("a", NOW + 1), true);
    });

    test("a flood of other buckets does not remove failures", async (t) => {
      const store = await open(t);
      await failTimes(store, 3, [bucket("victim")]);
      for (let i = 0; i < 300; i++) await failTimes(store, 1, [bucket(`flood-${i}`)], NOW + 1000);
      assert.ok((await store.retryAfterMs([bucket("victim")], NOW + 2000)) > 0);
    });
  });
}
