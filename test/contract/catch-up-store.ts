import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { CatchUpStore } from "../../src/webhook/catch-up/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;
const LIMITS = { now: NOW, most: 3, restMs: 10 };

/** The contract of every store of catch-ups. `open` returns an empty one, which is closed after the test. */
export function catchUpStoreContract(adapter: string, open: (context: Cleanup) => Promise<CatchUpStore>): void {
  suite(`catch-up store: ${adapter}`, () => {
    test("the state of each source is kept, and replaced", async (t) => {
      const store = await open(t);
      assert.equal(await store.state("shop"), null);
      const state = { coveredUntil: null, oldestOpen: null, ranAt: NOW, error: "it's ñ", notBefore: NOW + 5 };
      await store.saveState("shop", state);
      await store.saveState("other", { ...state, error: null });
      await store.saveState("shop", { ...state, coveredUntil: NOW });
      assert.deepEqual(await store.state("shop"), { ...state, coveredUntil: NOW });
      assert.deepEqual(await store.state("other"), { ...state, error: null });
    });

    test("an item is claimed three times, with a rest between, and by one of two at once", async (t) => {
      const store = await open(t);
      const claim = (now: number) => store.claim("shop", { item: "a", at: NOW - 50 }, { ...LIMITS, now });
      assert.deepEqual((await Promise.all([claim(NOW), claim(NOW)])).sort(), [false, true]);
      assert.equal(await claim(NOW + 9), false);
      assert.equal(await claim(NOW + 10), true);
      assert.equal(await claim(NOW + 20), true);
      assert.equal(await claim(NOW + 99), false);
      const item = { item: "a", at: NOW - 50, tries: 3, changedAt: NOW + 20, isDone: false };
      assert.deepEqual(await store.items("shop"), [item]);
      assert.equal(await store.claim("other", { item: "a", at: NOW }, LIMITS), true);
    });

    test("an item that was claimed by a clock that was ahead is claimed again", async (t) => {
      const store = await open(t);
      assert.equal(await store.claim("shop", { item: "a", at: NOW }, { ...LIMITS, now: NOW + 99 }), true);
      assert.equal(await store.claim("shop", { item: "a", at: NOW }, LIMITS), true);
      assert.equal(await store.claim("shop", { item: "a", at: NOW }, { ...LIMITS, now: NOW - 9 }), false);
    });

    test("a try that is taken back does not count, and needs no rest", async (t) => {
      const store = await open(t);
      const claim = () => store.claim("shop", { item: "a", at: NOW }, LIMITS);
      for (let n = 0; n < 5; n++) {
        assert.equal(await claim(), true);
        await store.release("shop", "a");
      }
      assert.equal((await store.items("shop"))[0]?.tries, 0);
    });

    test("what is done is not claimed again, and is still counted as missed", async (t) => {
      const store = await open(t);
      await store.claim("shop", { item: "ñ", at: NOW - 50 }, LIMITS);
      await store.claim("shop", { item: "b", at: NOW }, LIMITS);
      await store.finish("shop", "ñ", NOW + 5);
      await store.finish("shop", "unknown", NOW + 5);
      assert.equal(await store.claim("shop", { item: "ñ", at: NOW - 50 }, { ...LIMITS, now: NOW + 99 }), false);
      assert.deepEqual(
        (await store.items("shop")).map(({ item, isDone }) => [item, isDone]),
        [
          ["b", false],
          ["ñ", true],
        ],
      );
      assert.equal(await store.missed("shop", NOW - 50, NOW), 2);
      assert.equal(await store.missed("shop", NOW - 49, NOW), 1);
      assert.equal(await store.missed("other", 0, NOW), 0);
    });

    test("items from before a time are forgotten", async (t) => {
      const store = await open(t);
      for (const source of ["shop", "other"]) await store.claim(source, { item: "a", at: NOW - 50 }, LIMITS);
      await store.claim("shop", { item: "b", at: NOW }, LIMITS);
      await store.forget("shop", NOW);
      assert.deepEqual([(await store.items("shop")).length, (await store.items("other")).length], [1, 1]);
    });
  });
}
