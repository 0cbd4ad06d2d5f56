import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { OutageStore } from "../../src/webhook/outages/store.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

const NOW = 1_800_000_000_000;

/** The contract of every store of outages. `open` returns an empty one, which is closed after the test. */
export function outageStoreContract(adapter: string, open: (context: Cleanup) => Promise<OutageStore>): void {
  suite(`outage store: ${adapter}`, () => {
    test("a heartbeat returns the one before, whichever way the clock went, and whether a server stopped with it", async (t) => {
      const store = await open(t);
      assert.equal(await store.lastBeat(), null);
      assert.equal(await store.beat(NOW), null);
      assert.deepEqual(await store.beat(NOW + 5, true), { at: NOW, isLast: false });
      assert.deepEqual(await store.beat(NOW - 5), { at: NOW + 5, isLast: true });
      assert.deepEqual(await store.beat(NOW, true), { at: NOW - 5, isLast: false });
      assert.equal(await store.lastBeat(), NOW);
      // Another server goes on.
      await store.beat(NOW + 1);
      assert.deepEqual(await store.beat(NOW + 2), { at: NOW + 1, isLast: false });
    });

    test("an outage is kept, prolonged but never shortened, and listed while it ended after a time", async (t) => {
      const store = await open(t);
      const outage = (kind: "disk" | "stopped", from: number, to: number) => ({ kind, from: NOW + from, to: NOW + to });
      for (const [to] of [[20], [30], [25]]) await store.record(outage("disk", 10, to as number), 0);
      await store.record(outage("stopped", 0, 15), 0);
      assert.deepEqual(await store.list(0), [outage("stopped", 0, 15), outage("disk", 10, 30)]);
      assert.deepEqual(await store.list(NOW + 15), [outage("disk", 10, 30)]);
    });

    test("outages that ended before a time are forgotten", async (t) => {
      const store = await open(t);
      await store.record({ kind: "queue", from: NOW, to: NOW + 1 }, 0);
      await store.record({ kind: "queue", from: NOW + 5, to: NOW + 6 }, NOW + 2);
      assert.deepEqual(await store.list(0), [{ kind: "queue", from: NOW + 5, to: NOW + 6 }]);
    });
  });
}
