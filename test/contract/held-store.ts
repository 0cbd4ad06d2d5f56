import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { HeldBounds, HeldDelivery, HeldStore } from "../../src/webhook/held/held-store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;
const AMPLE: HeldBounds = { count: 1000, bytes: 1_000_000, forMs: 60_000 };

function delivery(n: number, changes: Partial<HeldDelivery> = {}): HeldDelivery {
  return {
    source: "shop",
    reason: "signature_mismatch",
    method: "POST",
    origin: "https://hooks.example",
    target: "/webhook/shop?a=b",
    headers: '{"x-sig":"00"}',
    mediaType: "application/json",
    address: "192.0.2.1",
    receivedAt: NOW + n,
    body: Buffer.from(`{"n":${n}}`),
    ...changes,
  };
}

/** The contract of every store of refused deliveries. `open` returns an empty one, which is closed after the test. */
export function heldStoreContract(adapter: string, open: (context: Cleanup) => Promise<HeldStore>): void {
  const hold = (store: HeldStore, deliveries: HeldDelivery[], bounds = AMPLE) =>
    store.hold(deliveries.map((one) => ({ delivery: one, bounds })));
  const timesOf = async (store: HeldStore, source?: string) =>
    (await store.list({ limit: 100, ...(source !== undefined && { source }) })).map(
      ({ receivedAt }) => receivedAt - NOW,
    );

  suite(`held store: ${adapter}`, () => {
    test("deliveries are kept as they came, in order of arrival", async (t) => {
      const store = await open(t);
      const odd = delivery(2, { body: Buffer.from([0, 255, 10]), reason: "é" });
      await hold(store, [delivery(1), odd]);
      const listed = await store.list({ limit: 10 });
      assert.deepEqual(
        listed.map(({ id: _, ...rest }) => rest),
        [delivery(1), odd].map(({ source, reason, mediaType, address, receivedAt, body }) => ({
          source,
          reason,
          mediaType,
          address,
          receivedAt,
          bytes: body.length,
        })),
      );
      const read = await store.read(listed.map(({ id }) => id));
      assert.deepEqual(
        read.map(({ id: _, body, ...rest }) => ({ ...rest, body: Buffer.from(body) })),
        [delivery(1), odd],
      );
    });

    test("a list goes on after a delivery, and has those of a source since a time", async (t) => {
      const store = await open(t);
      await hold(store, [delivery(1), delivery(2, { source: "other" }), delivery(3)]);
      const [first] = await store.list({ limit: 1 });
      const rest = await store.list({ limit: 10, after: first?.id ?? 0 });
      assert.deepEqual(
        rest.map(({ receivedAt }) => receivedAt - NOW),
        [2, 3],
      );
      assert.deepEqual(await timesOf(store, "shop"), [1, 3]);
      assert.equal((await store.list({ limit: 10, since: NOW + 3 })).length, 1);
    });

    test("beyond the number, the bytes or the time of a source, the oldest are removed", async (t) => {
      const store = await open(t);
      await hold(
        store,
        [1, 2, 3].map((n) => delivery(n)),
        { ...AMPLE, count: 2 },
      );
      assert.deepEqual(await timesOf(store), [2, 3]);
      await hold(store, [delivery(4)], { ...AMPLE, bytes: 2 * delivery(1).body.length });
      assert.deepEqual(await timesOf(store), [3, 4]);
      await hold(store, [delivery(5, { source: "other" })], { ...AMPLE, count: 1 });
      assert.deepEqual(await timesOf(store), [3, 4, 5], "each source has its own bounds");
      await store.trim("shop", AMPLE, NOW + 4 + AMPLE.forMs);
      assert.deepEqual(await timesOf(store), [4, 5]);
    });

    test("one that came while the clock was ahead does not keep the others", async (t) => {
      const store = await open(t);
      await hold(store, [delivery(1e10), delivery(1), delivery(2)]);
      await store.trim("shop", AMPLE, NOW + 2 + AMPLE.forMs);
      assert.deepEqual(await timesOf(store), [1e10, 2]);
      await hold(store, [delivery(3)], { ...AMPLE, count: 2 });
      assert.equal((await timesOf(store)).length, 2, "the number is right");
    });

    test("of deliveries with equal times the first ones are removed, and none behind one that is kept", async (t) => {
      const store = await open(t);
      const bodies = ["é", "😀", "a"].map((text) => delivery(0, { source: "Ñ", body: Buffer.from(text) }));
      await hold(store, bodies, { ...AMPLE, bytes: 5 });
      const left = async () => (await store.list({ limit: 10, source: "Ñ" })).map(({ bytes }) => bytes);
      assert.deepEqual(await left(), [4, 1]);
      await hold(store, [delivery(1e10, { source: "Ñ", body: Buffer.alloc(9) })]);
      await hold(store, [
        delivery(-AMPLE.forMs - 1, { source: "Ñ" }),
        delivery(2, { source: "Ñ", body: Buffer.alloc(3) }),
      ]);
      assert.deepEqual(await left(), [9, 12, 3]);
      await store.trim("Ñ", { count: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER, forMs: 60_000 }, NOW);
      assert.deepEqual(await left(), [9, 3]);
    });

    test("a cursor beyond every number, and times before 1970 and far ahead, are usual ones", async (t) => {
      const store = await open(t);
      const far = 8.64e15 - NOW;
      await hold(store, [delivery(-NOW - 5), delivery(far)], { ...AMPLE, forMs: 8.99e15 });
      assert.deepEqual(await timesOf(store), [-NOW - 5, far]);
      assert.deepEqual(await store.list({ limit: 10, after: Number.MAX_SAFE_INTEGER }), []);
      assert.equal((await store.list({ limit: 10, since: far + NOW })).length, 1);
      assert.equal((await store.list({ limit: 10, since: -5 })).length, 2);
    });

    test("the sources are those of which deliveries are held", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.sources(), []);
      await hold(store, [delivery(1), delivery(2, { source: "other" })]);
      assert.deepEqual(await store.sources(), ["other", "shop"]);
      await store.trim("shop", { ...AMPLE, count: 0 }, NOW);
      assert.deepEqual(await store.sources(), ["other"]);
    });

    test("removed deliveries leave room, also many at once", async (t) => {
      const store = await open(t);
      await hold(
        store,
        Array.from({ length: 250 }, (_, n) => delivery(n)),
      );
      const ids = (await store.list({ limit: 1000 })).map(({ id }) => id);
      await store.remove(ids.slice(0, 200));
      await hold(store, [delivery(300)], { ...AMPLE, count: 51 });
      assert.equal((await timesOf(store)).length, 51);
      await store.trim("shop", { ...AMPLE, count: 0 }, NOW);
      assert.deepEqual(await timesOf(store), []);
    });

    test("one answer has as many bodies as fit, and at least one", async (t) => {
      const store = await open(t);
      const large = (n: number) => delivery(n, { body: Buffer.alloc(5 * 1024 * 1024) });
      await hold(store, [large(1), large(2)], { ...AMPLE, bytes: 100_000_000 });
      const ids = (await store.list({ limit: 10 })).map(({ id }) => id);
      const read = await store.read(ids.toReversed());
      assert.deepEqual(
        read.map(({ id }) => id),
        ids.slice(0, 1),
      );
    });
  });
}
