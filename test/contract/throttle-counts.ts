import assert from "node:assert/strict";
import { suite, test } from "node:test";
import {
  ADDRESS_BUCKET_PREFIX,
  CODE_BUCKET_PREFIX,
  EMAIL_BUCKET_PREFIX,
  NETWORK_BUCKET_PREFIX,
  STALE_ATTEMPT_MS,
  type ThrottleStore,
  WINDOW_MS,
} from "../../src/auth/throttle/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const EMAIL = `${EMAIL_BUCKET_PREFIX}x`;
const ADDRESS = `${ADDRESS_BUCKET_PREFIX}x`;
const OTHER_ADDRESS = `${ADDRESS_BUCKET_PREFIX}y`;
const CODES = `${CODE_BUCKET_PREFIX}x`;
const NOW = 1_800_000_000_000;

/** The counts of every throttle store for an operator. `open` returns an empty one, which is closed after the test. */
export function throttleCountsContract(adapter: string, open: (context: Cleanup) => Promise<ThrottleStore>): void {
  async function fail(store: ThrottleStore, names: string[], at = NOW): Promise<void> {
    const reservation = await store.reserve(
      names.map((bucket) => ({ bucket, limit: 10 })),
      at,
    );
    assert.equal(reservation.outcome, "reserved");
    if (reservation.outcome === "reserved") await store.fail(reservation.ids, at);
  }

  suite(`throttle counts: ${adapter}`, () => {
    test("failures count in each of their buckets until they leave the window", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.totals(NOW), { failures: 0, buckets: 0 });
      await fail(store, ["a", EMAIL]);
      await fail(store, ["b", EMAIL], NOW + 1000);
      assert.deepEqual(await store.totals(NOW + 1000), { failures: 2, buckets: 2 });
      assert.deepEqual(await store.totals(NOW + WINDOW_MS), { failures: 1, buckets: 1 });
      assert.equal(await store.failures("a", NOW + 1000), 1);
      assert.equal(await store.failures(EMAIL, NOW + 1000), 2);
      assert.equal(await store.failures("other", NOW + 1000), 0);
      assert.equal(await store.failures(EMAIL, NOW + WINDOW_MS), 1);
    });

    test("totals over all buckets count a failure once", async (t) => {
      const store = await open(t);
      for (const pair of ["a", "a", "b"]) await fail(store, [pair, EMAIL, ADDRESS]);
      assert.deepEqual(await store.totals(NOW), { failures: 3, buckets: 2 });
      assert.equal(await store.clear("all"), 3);
      assert.equal(await store.failures(EMAIL, NOW), 0);
    });

    test("an attempt in flight is not a failure until it is stale", async (t) => {
      const store = await open(t);
      await store.reserve([{ bucket: "a", limit: 10 }], NOW);
      assert.equal(await store.failures("a", NOW), 0);
      assert.equal(await store.failures("a", NOW + STALE_ATTEMPT_MS), 1);
    });

    test("failures in the future, left by a clock that was set back, do not count", async (t) => {
      const store = await open(t);
      await fail(store, ["a", EMAIL]);
      const before = NOW - 3_600_000;
      assert.equal(await store.retryAfterMs([{ bucket: "a", limit: 1 }], before), 0);
      assert.deepEqual([await store.failures("a", before), await store.failures(EMAIL, before)], [0, 0]);
      assert.equal((await store.reserve([{ bucket: "a", limit: 1 }], before)).outcome, "reserved");
    });

    test("clearing an address removes its failures from the e-mail's bucket, and keeps those of other addresses", async (t) => {
      const store = await open(t);
      for (let i = 0; i < 3; i++) {
        await fail(store, ["a", EMAIL, ADDRESS]);
        await fail(store, ["b", EMAIL, OTHER_ADDRESS]);
        // A known address.
        await fail(store, ["a", ADDRESS]);
        // Another e-mail.
        await fail(store, ["c", `${EMAIL_BUCKET_PREFIX}y`, ADDRESS]);
      }
      assert.equal(await store.clear({ pair: "a", email: EMAIL, networks: [], address: ADDRESS, codes: CODES }), 9);
      assert.equal(await store.retryAfterMs([{ bucket: "a", limit: 1 }], NOW), 0);
      assert.equal(await store.failures("a", NOW), 0);
      assert.equal(await store.failures(ADDRESS, NOW), 0);
      assert.equal(await store.failures("b", NOW), 3);
      assert.equal(await store.failures(EMAIL, NOW), 3);
      assert.equal(await store.failures(OTHER_ADDRESS, NOW), 3);
      assert.deepEqual(await store.totals(NOW), { failures: 6, buckets: 2 });
      assert.equal(await store.clear({ pair: "a", email: EMAIL, networks: [], address: ADDRESS, codes: CODES }), 0);
      assert.equal(await store.clear({ pair: "never", email: EMAIL, networks: [], address: ADDRESS, codes: CODES }), 0);
      assert.equal(await store.failures(EMAIL, NOW), 3);
    });

    test("clearing an address removes its failures from the buckets of wider networks too", async (t) => {
      const store = await open(t);
      const networks = [`${NETWORK_BUCKET_PREFIX}56`, `${NETWORK_BUCKET_PREFIX}48`];
      for (let i = 0; i < 3; i++) {
        await fail(store, ["a", EMAIL, ...networks, ADDRESS]);
        await fail(store, ["b", EMAIL, ...networks, OTHER_ADDRESS]);
      }
      assert.deepEqual(await store.totals(NOW), { failures: 6, buckets: 2 });
      assert.equal(await store.clear({ pair: "a", email: EMAIL, networks, address: ADDRESS, codes: CODES }), 3);
      for (const bucket of [EMAIL, ...networks]) assert.equal(await store.failures(bucket, NOW), 3);
      assert.equal(await store.clear("all"), 3);
    });

    test("clearing an address removes all wrong codes of unknown clients, which would still lock it out", async (t) => {
      const store = await open(t);
      for (const [pair, address] of [
        ["a", ADDRESS],
        ["b", OTHER_ADDRESS],
      ] as const) {
        await fail(store, [pair, address]);
        await fail(store, [CODES]);
      }
      const names = { pair: "a", email: EMAIL, networks: [], address: ADDRESS, codes: CODES };
      assert.equal(await store.clear(names), 2);
      assert.deepEqual([await store.failures(CODES, NOW), await store.failures("b", NOW)], [0, 1]);
      assert.equal(await store.clear(names), 0);
    });

    test("any number of failures can be cleared, and known addresses stay known", async (t) => {
      const store = await open(t);
      const names = Array.from({ length: 1200 }, (_, i) => `bucket-${i}`);
      for (let from = 0; from < names.length; from += 100) await fail(store, names.slice(from, from + 100));
      await store.remember("a", NOW);
      assert.deepEqual(await store.totals(NOW), { failures: 1200, buckets: 1200 });
      assert.equal(await store.clear("all"), 1200);
      assert.deepEqual(await store.totals(NOW), { failures: 0, buckets: 0 });
      assert.equal(await store.isKnown("a", NOW), true);
    });
  });
}
