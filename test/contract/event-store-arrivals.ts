import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { fanOut, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

/** What holds for events that are read in order of arrival. */
export function arrivalContract(adapter: string, open: OpenEventStore): void {
  const add = (store: EventStore, ...ids: string[]) =>
    store.append(ids.map((eventId, index) => newEvent({ eventId, receivedAt: NOW + index * 60_000 })));

  async function idsAfter(store: EventStore, after: number, limit = 10): Promise<{ ids: string[]; end: number }> {
    const { items, end } = await store.arrivals(after, limit);
    return { ids: items.map(({ eventId }) => eventId), end };
  }

  suite(`event store: ${adapter}: arrivals`, () => {
    test("each event arrives once, in order, before its fan-out and after it", async (t) => {
      const store = await open(t);
      const empty = await store.arrivals(0, 10);
      assert.deepEqual(empty.items, []);
      await add(store, "a", "b", "c");
      const first = await idsAfter(store, empty.end, 2);
      assert.deepEqual(first.ids, ["a", "b"]);
      await fanOut(store);
      await add(store, "c", "d");
      const second = await idsAfter(store, first.end);
      assert.deepEqual(second.ids, ["c", "d"]);
      assert.deepEqual(await idsAfter(store, second.end), { ids: [], end: second.end });
    });

    test("an arrival has what filters need", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ source: "github", type: "push" })]);
      const [{ id, ...arrival } = { id: 0 }] = (await store.arrivals(0, 1)).items;
      assert.deepEqual(arrival, { source: "github", eventId: "e-1", type: "push", receivedAt: NOW });
      const [content] = await store.payloads([id]);
      assert.equal(content?.contentType, "application/json");
    });

    test("arrivals since a time begin with the first event received then, with and without its fan-out", async (t) => {
      const store = await open(t);
      await add(store, "a", "b");
      const since = async (time: number | null) => (await idsAfter(store, await store.arrivalsSince(time))).ids;
      for (const routes of [async () => {}, fanOut]) {
        await routes(store);
        assert.deepEqual(await since(0), ["a", "b"]);
        assert.deepEqual(await since(NOW), ["a", "b"]);
        assert.deepEqual(await since(NOW + 1), ["b"]);
        assert.deepEqual(await since(NOW + 60_001), []);
        assert.deepEqual(await since(null), []);
      }
      await add(store, "c");
      assert.deepEqual(await since(NOW + 60_000), ["b", "c"]);
    });

    test("a number behind all events is answered with the smaller one that is", async (t) => {
      const store = await open(t);
      await add(store, "a");
      const { end } = await store.arrivals(0, 10);
      assert.deepEqual(await store.arrivals(end + 100, 10), { items: [], end });
    });
  });
}
