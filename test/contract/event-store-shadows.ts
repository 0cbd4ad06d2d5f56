import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DEFAULT_RETENTION } from "../../src/events/retention.ts";
import { type Comparison, MAX_DIFFERENCES } from "../../src/events/shadow.ts";
import type { EventStore } from "../../src/events/store.ts";
import { fanOut, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const NOTHING = { same: 0, different: 0, failed: 0, skipped: 0 };

/** How the answers of shadows compare with those of their routes. */
export function shadowContract(adapter: string, open: OpenEventStore): void {
  const comparison = (event: number, found: string | null, changes: Partial<Comparison> = {}): Comparison => ({
    event,
    route: "next",
    at: NOW + event,
    outcome: found === null ? "same" : "different",
    difference: found === null ? null : { place: "body ñ", expected: '"a"', found },
    ...changes,
  });

  async function addEvents(store: EventStore, count: number): Promise<void> {
    await store.append(Array.from({ length: count }, (_, index) => newEvent({ eventId: `e-${index + 1}` })));
    await fanOut(store);
  }

  suite(`event store: ${adapter}: shadows`, () => {
    test("comparisons are counted by shadow and outcome, and differences are listed with their events", async (t) => {
      const store = await open(t);
      await addEvents(store, 3);
      assert.deepEqual([await store.comparisons("next"), await store.differences("next")], [NOTHING, []]);
      await store.addComparisons([comparison(1, "b"), comparison(2, null), comparison(2, "x", { route: "other" })]);
      const failed = { place: "answer", expected: "200", found: "no" };
      await store.addComparisons([
        comparison(2, null),
        comparison(3, null, { outcome: "failed", difference: failed }),
        comparison(3, null, { outcome: "skipped", route: "other" }),
      ]);
      assert.deepEqual(await store.comparisons("next"), { same: 2, different: 1, failed: 1, skipped: 0 });
      const event = { source: "default", type: "push" };
      assert.deepEqual(await store.differences("next"), [
        { ...event, eventId: "e-3", at: NOW + 3, ...failed },
        { ...event, eventId: "e-1", at: NOW + 1, place: "body ñ", expected: '"a"', found: "b" },
      ]);
    });

    test("the newest comparison of an event counts, and what was compared can be forgotten", async (t) => {
      const store = await open(t);
      await addEvents(store, 2);
      await store.addComparisons([comparison(1, "b"), comparison(2, "b")]);
      await store.addComparisons([comparison(1, "c"), comparison(2, null)]);
      const founds = async () => (await store.differences("next")).map(({ found }) => found);
      assert.deepEqual(await founds(), ["c"]);
      assert.deepEqual(await store.comparisons("next"), { ...NOTHING, same: 1, different: 1 });
      await store.addComparisons([comparison(1, "x", { route: "other" })]);
      assert.deepEqual([await store.resetComparisons("next"), await store.resetComparisons("next")], [true, false]);
      assert.deepEqual([await store.comparisons("next"), await founds()], [NOTHING, []]);
      assert.equal((await store.differences("other")).length, 1);
    });

    test("the differences of the newest events are kept, as long as their events are", async (t) => {
      const store = await open(t);
      const count = MAX_DIFFERENCES + 2;
      await addEvents(store, count);
      const all = Array.from({ length: count }, (_, index) => comparison(index + 1, "b"));
      await store.addComparisons([...all, comparison(1000, "of an unknown event")]);
      const ids = async () => (await store.differences("next")).map(({ eventId }) => eventId);
      assert.deepEqual([(await ids()).length, (await ids()).at(-1)], [MAX_DIFFERENCES, "e-3"]);
      assert.equal((await store.comparisons("next")).different, count + 1);
      const short = { ...DEFAULT_RETENTION.processed, forMs: 1 };
      for (const { eventId, source } of await store.startingWith("e-", undefined, count))
        await store.discard({ eventId, source }, "unwanted", NOW);
      const retention = { ...DEFAULT_RETENTION, processed: short };
      for (let cursor: string | null = ""; cursor !== null; )
        cursor = (await store.purge({ retention, now: NOW + 120_000, limit: 100, ...(cursor && { cursor }) })).next;
      assert.deepEqual(await ids(), []);
    });

    test("an erasure removes the differences of an event, and none is kept afterwards", async (t) => {
      const store = await open(t);
      await addEvents(store, 1);
      await store.addComparisons([comparison(1, "b")]);
      await store.erase({ eventId: "e-1", source: "default" }, { reason: "asked for", now: NOW });
      assert.deepEqual(await store.differences("next"), []);
      await store.addComparisons([comparison(1, "b")]);
      assert.deepEqual([await store.differences("next"), (await store.comparisons("next")).different], [[], 2]);
    });

    test("counting a comparison leaves the event and its statistics as they are", async (t) => {
      const store = await open(t);
      await addEvents(store, 1);
      const read = async () => [
        await store.get("e-1"),
        await store.routes(NOW),
        await store.attemptsSince(0),
        await store.backlog(),
      ];
      const before = await read();
      await store.addComparisons([comparison(1, "b"), comparison(1, null, { outcome: "failed" })]);
      const after = await read();
      assert.deepEqual(after.slice(0, 3), before.slice(0, 3));
    });
  });
}
