import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { MAX_REPEATS } from "../../src/events/dedupe.ts";
import { DEFAULT_RETENTION } from "../../src/events/retention.ts";
import type { EventStore, NewEvent, Repeat } from "../../src/events/store.ts";
import { claim, claimOf, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const LATER = NOW + 60_000;
const DIGEST = createHash("sha256").update("same").digest("hex");

/** A delivery of the same bytes. */
const delivery = (eventId: string, changes: Partial<NewEvent> = {}) =>
  newEvent({ eventId, payload: Buffer.from("same"), bytesSha256: DIGEST, ...changes });

const NEW = { duplicate: false, conflict: false };
const DUPLICATE = { duplicate: true, conflict: false };
const REPEAT = { ...DUPLICATE, repeat: true, eventId: "a" };

async function repeatsOf(store: EventStore, eventId = "a"): Promise<Repeat[]> {
  return (await store.get(eventId))[0]?.repeats ?? [];
}

const numbered = (repeats: readonly Repeat[]) => repeats.map(({ number, eventId }) => [number, eventId]);

const first = { eventId: "a", source: "default" };

/** What holds for deliveries that are duplicates by their bytes, and bring another id. */
export function repeatContract(adapter: string, open: OpenEventStore): void {
  suite(`event store: ${adapter}: repeats`, () => {
    test("known bytes under another unsigned id are kept beside the event, with headers and time", async (t) => {
      const store = await open(t);
      await store.append([delivery("a")]);
      const other = { headers: '{"x-id":"b","ñ":""}', type: "other", address: "192.0.2.2", receivedAt: LATER };
      assert.deepEqual(await store.append([delivery("b", other)]), [REPEAT]);
      const [event] = await store.get("a");
      assert.deepEqual(event?.repeats, [
        {
          number: 1,
          eventId: "b",
          type: "other",
          deliveries: 1,
          firstAt: LATER,
          lastAt: LATER,
          address: "192.0.2.2",
          headers: { "x-id": "b", ñ: "" },
          replayedAs: null,
        },
      ]);
      assert.deepEqual([event?.type, event?.conflicts, (await store.backlog()).conflicts], ["push", [], 0]);
      assert.deepEqual(await store.get("b"), []);
    });

    test("the id of a repeat again is counted as a duplicate, also in one batch", async (t) => {
      const store = await open(t);
      const at = (receivedAt: number) => delivery("b", { receivedAt });
      assert.deepEqual(await store.append([delivery("a"), at(NOW + 1), at(NOW + 2), delivery("c")]), [
        NEW,
        REPEAT,
        { ...DUPLICATE, eventId: "a" },
        REPEAT,
      ]);
      assert.deepEqual(await store.append([at(NOW + 3)]), [{ ...DUPLICATE, eventId: "a" }]);
      assert.deepEqual(
        (await repeatsOf(store)).map(({ number, eventId, deliveries, firstAt, lastAt }) => [
          number,
          eventId,
          deliveries,
          firstAt,
          lastAt,
        ]),
        [
          [1, "b", 3, NOW + 1, NOW + 3],
          [2, "c", 1, NOW, NOW],
        ],
      );
    });

    test("a delivery with the id of the event, without an id, or of another source is no repeat", async (t) => {
      const store = await open(t);
      await store.append([delivery("a")]);
      assert.deepEqual(
        await store.append([delivery("a"), delivery(`sha256:${DIGEST}`), delivery("b", { source: "other" })]),
        [DUPLICATE, { ...DUPLICATE, eventId: "a" }, NEW],
      );
      assert.deepEqual(await repeatsOf(store), []);
    });

    test("an event that came without an id keeps an id as a repeat", async (t) => {
      const store = await open(t);
      const eventId = `sha256:${DIGEST}`;
      assert.deepEqual(await store.append([delivery(eventId), delivery("b")]), [NEW, { ...REPEAT, eventId }]);
      assert.deepEqual(numbered(await repeatsOf(store, eventId)), [[1, "b"]]);
    });

    test("the newest repeats of an event are kept, under the numbers that they had", async (t) => {
      const store = await open(t);
      await store.append([delivery("a")]);
      const ids = Array.from({ length: MAX_REPEATS + 3 }, (_, place) => `b-${place + 1}`);
      await store.append(ids.slice(0, 2).map((id) => delivery(id)));
      await store.append(ids.slice(2).map((id) => delivery(id)));
      const kept = ids.map((id, place) => [place + 1, id]).slice(3);
      assert.deepEqual(numbered(await repeatsOf(store)), kept);
      assert.deepEqual(await store.append([delivery("b-4"), delivery("last")]), [
        { ...DUPLICATE, eventId: "a" },
        REPEAT,
      ]);
      assert.deepEqual(numbered(await repeatsOf(store)), [...kept.slice(1), [MAX_REPEATS + 4, "last"]]);
    });

    test("appends at the same time give each repeat a number of its own", async (t) => {
      const store = await open(t);
      await store.append([delivery("a")]);
      const ids = Array.from({ length: 12 }, (_, place) => `b-${place}`);
      await Promise.all(ids.map((id) => store.append([delivery(id)])));
      const repeats = await repeatsOf(store);
      assert.deepEqual(
        repeats.map(({ number }) => number),
        ids.map((_, place) => place + 1),
      );
      assert.deepEqual(repeats.map(({ eventId }) => eventId).sort(), [...ids].sort());
    });

    test("with a time, the same bytes within it are a repeat of the newest event", async (t) => {
      const store = await open(t);
      const within = (eventId: string, at: number) => delivery(eventId, { sameWithinMs: 1000, receivedAt: NOW + at });
      assert.deepEqual(await store.append([within("a", 0), within("b", 999), within("a", 1000), within("a", 1001)]), [
        NEW,
        REPEAT,
        { ...NEW, eventId: "a~2" },
        // The event came under this id: the number was put behind it here.
        { ...DUPLICATE, eventId: "a~2" },
      ]);
      assert.deepEqual(await store.append([within("c", 1002)]), [{ ...REPEAT, eventId: "a~2" }]);
      assert.deepEqual(
        [numbered(await repeatsOf(store)), numbered(await repeatsOf(store, "a~2"))],
        [[[1, "b"]], [[1, "c"]]],
      );
    });

    test("a replay makes an event of a repeat, with its id, type, headers and secret and the bytes of the event", async (t) => {
      const store = await open(t);
      const other = { type: "other", headers: '{"x-id":"b"}', secret: "env:OLD", contentType: "text/plain" };
      await store.append([delivery("a"), delivery("b", other)]);
      assert.equal(await store.replayRepeat(first, "b", LATER), "b");
      const [event] = await store.get("b");
      assert.deepEqual(
        [event?.status, event?.type, event?.headers, event?.secret, event?.contentType, event?.receivedAt],
        ["queued", "other", { "x-id": "b" }, "env:OLD", "text/plain", LATER],
      );
      assert.equal(Buffer.from(event?.payload ?? []).toString(), "same");
      const { claimed } = await claim(store, { now: LATER });
      assert.deepEqual(
        claimed.map(({ eventId, payload }) => [eventId, Buffer.from(payload).toString()]),
        [
          ["a", "same"],
          ["b", "same"],
        ],
      );
      const { queued, ids } = await store.backlog();
      assert.deepEqual([queued, ids], [2, 2]);
    });

    test("a repeat is replayed once, and later deliveries of its id are duplicates of the first event", async (t) => {
      const store = await open(t);
      await store.append([delivery("a"), delivery("b")]);
      assert.equal(await store.replayRepeat(first, "b", LATER), "b");
      assert.equal(await store.replayRepeat(first, "b", LATER), null);
      assert.equal(await store.replayRepeat(first, "c", LATER), null);
      assert.equal(await store.replayRepeat({ ...first, source: "other" }, "b", LATER), null);
      assert.deepEqual(await store.append([delivery("b")]), [{ ...DUPLICATE, eventId: "a" }]);
      assert.deepEqual(
        (await repeatsOf(store)).map(({ deliveries, replayedAs }) => [deliveries, replayedAs]),
        [[2, "b"]],
      );
    });

    test("two replays of a repeat at the same time make one event", async (t) => {
      const store = await open(t);
      await store.append([delivery("a"), delivery("b")]);
      const replayed = await Promise.all([1, 2, 3].map(() => store.replayRepeat(first, "b", LATER)));
      assert.deepEqual(replayed.sort(), ["b", null, null]);
      assert.equal((await store.backlog()).queued, 2);
    });

    test("a replayed repeat whose id is taken gets a number behind it", async (t) => {
      const store = await open(t);
      await store.append([delivery("a"), delivery("b"), newEvent({ eventId: "b" }), newEvent({ eventId: "b~2" })]);
      assert.equal(await store.replayRepeat(first, "b", LATER), "b~3");
      assert.equal(Buffer.from((await store.get("b~3"))[0]?.payload ?? []).toString(), "same");
      assert.equal((await repeatsOf(store))[0]?.replayedAs, "b~3");
    });

    test("repeats are numbered behind the conflicts of an event", async (t) => {
      const store = await open(t);
      const within = (eventId: string, at: number) => delivery(eventId, { sameWithinMs: 1000, receivedAt: NOW + at });
      // The bytes identify the second event from then on. So other bytes under the id of the first one are a conflict.
      await store.append([within("a", 0), within("b", 1), within("c", 1001)]);
      assert.equal((await store.append([newEvent({ eventId: "a" })]))[0]?.conflict, true);
      const [event] = await store.get("a");
      assert.deepEqual(
        [event?.conflicts, event?.repeats].map((kept) => kept?.map(({ number }) => number)),
        [[1], [2]],
      );
    });

    test("of very many conflicts of an event the first ones are shown", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ eventId: "a" })]);
      const others = Array.from({ length: 5001 }, (_, n) =>
        newEvent({ eventId: "a", payload: Buffer.from(`{"n":${n}}`) }),
      );
      await store.append(others);
      assert.equal((await store.get("a"))[0]?.conflicts.length, 5000);
      assert.equal((await store.backlog()).conflicts, 5001);
    });

    test("retention removes the repeats with their event", async (t) => {
      const store = await open(t);
      await store.append([delivery("a"), delivery("b")]);
      const { claimed } = await claim(store);
      const end = { next: { to: "processed" } as const, startedAt: NOW, finishedAt: NOW, error: null };
      await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
      await store.append([newEvent({ eventId: "last", receivedAt: NOW + 1 })]);
      const processed = { ...DEFAULT_RETENTION.processed, forMs: 1000 };
      const retention = { ...DEFAULT_RETENTION, processed };
      assert.equal((await store.purge({ retention, now: LATER, limit: 100 })).events, 1);
      assert.equal(await store.replayRepeat(first, "b", LATER), null);
      assert.deepEqual(await store.append([delivery("c")]), [{ ...DUPLICATE, eventId: "a" }]);
      assert.deepEqual(await store.get("a"), []);
    });
  });
}
