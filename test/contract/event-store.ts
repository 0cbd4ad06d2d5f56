import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import type { Claim, EventFilter, EventStore } from "../../src/events/store.ts";
import { claim, NOW, newEvent } from "../helpers/events.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { claimContract } from "./event-store-claims.ts";
import { replayContract } from "./event-store-replay.ts";

export type OpenEventStore = (context: Cleanup) => Promise<EventStore>;

/** What every event store does. `open` gives an empty one that ends with the test. */
export function eventStoreContract(adapter: string, open: OpenEventStore): void {
  suite(`event store: ${adapter}: intake`, () => {
    test("a new event is stored as it came", async (t) => {
      const store = await open(t);
      const payload = Buffer.from([0x7b, 0x22, 0xc3, 0xb1, 0x00, 0xff, 0x22, 0x7d]);
      assert.deepEqual(await store.append([newEvent({ payload, headers: '{"a":"ñ","b":""}' })]), [
        { duplicate: false, conflict: false },
      ]);
      const [event, ...others] = await store.get("e-1");
      assert.deepEqual(others, []);
      assert.ok(event);
      assert.deepEqual(Buffer.from(event.payload), payload);
      const { payload: _, ...rest } = event;
      assert.deepEqual(rest, {
        source: "default",
        eventId: "e-1",
        type: "push",
        status: "queued",
        attempts: 0,
        receivedAt: NOW,
        processedAt: null,
        lastError: null,
        dueAt: NOW,
        leased: false,
        address: "192.0.2.1",
        headers: { a: "ñ", b: "" },
        contentType: "application/json",
        history: [],
        deadLetter: null,
        conflicts: [],
      });
    });

    test("the same delivery again is a duplicate and changes nothing", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const before = await store.get("e-1");
      const again = newEvent({ receivedAt: NOW + 5, address: "192.0.2.9", type: "other" });
      assert.deepEqual(await store.append([again]), [{ duplicate: true, conflict: false }]);
      assert.deepEqual(await store.get("e-1"), before);
      assert.equal((await store.counts()).queued, 1);
    });

    test("under an unsigned id the bytes make the duplicate, which names the event that is stored", async (t) => {
      const store = await open(t);
      const unsigned = (eventId: string, text: string) => {
        const payload = Buffer.from(text);
        return newEvent({ eventId, payload, bytesSha256: createHash("sha256").update(payload).digest("hex") });
      };
      const idOf = (text: string) => `sha256:${unsigned("", text).bytesSha256}`;
      assert.deepEqual(
        await store.append([unsigned("a", "1"), unsigned("a", "1"), unsigned("b", "1"), unsigned("a", "2")]),
        [
          { duplicate: false, conflict: false },
          { duplicate: true, conflict: false },
          { duplicate: true, conflict: false, eventId: "a" },
          { duplicate: false, conflict: false, eventId: idOf("2") },
        ],
      );
      assert.deepEqual(await store.append([unsigned("a", "2"), unsigned("c", "2")]), [
        { duplicate: true, conflict: false, eventId: idOf("2") },
        { duplicate: true, conflict: false, eventId: idOf("2") },
      ]);
      assert.deepEqual(await store.append([{ ...unsigned("a", "1"), source: "other" }]), [
        { duplicate: false, conflict: false },
      ]);
      assert.equal((await store.counts()).conflicts, 0);
    });

    test("a signed id that an unsigned one has taken is stored all the same, once", async (t) => {
      const store = await open(t);
      const payload = Buffer.from("captured");
      const bytesSha256 = createHash("sha256").update(payload).digest("hex");
      await store.append([newEvent({ payload, bytesSha256 })]);
      const [first, again] = [await store.append([newEvent()]), await store.append([newEvent()])];
      assert.deepEqual([first[0]?.duplicate, again[0]?.duplicate], [false, true]);
      assert.match(String(first[0]?.eventId), /^sha256:[0-9a-f]{64}$/);
      assert.equal(again[0]?.eventId, first[0]?.eventId);
    });

    test("other bytes under a known id are kept beside the event and counted", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const other = (at: number, payload: Buffer) => newEvent({ payload, receivedAt: at });
      const x = Buffer.from([0x78, 0xc3, 0xb1, 0x00, 0xff]);
      const y = Buffer.from("y");
      assert.deepEqual(await store.append([other(NOW + 1, x), other(NOW + 2, x), other(NOW + 3, y)]), [
        { duplicate: true, conflict: true },
        { duplicate: true, conflict: true },
        { duplicate: true, conflict: true },
      ]);
      const [event] = await store.get("e-1");
      assert.equal(Buffer.from(event?.payload ?? []).toString(), '{"a":1}');
      assert.deepEqual(
        event?.conflicts.map(({ deliveries, firstAt, lastAt }) => ({ deliveries, firstAt, lastAt })),
        [
          { deliveries: 2, firstAt: NOW + 1, lastAt: NOW + 2 },
          { deliveries: 1, firstAt: NOW + 3, lastAt: NOW + 3 },
        ],
      );
      assert.deepEqual(
        event?.conflicts.map(({ payload }) => payload && Buffer.from(payload)),
        [x, y],
      );
      assert.match(event?.conflicts[0]?.payloadSha256 ?? "", /^9b72340940f3bd51/);
      assert.equal((await store.counts()).conflicts, 3);
    });

    test("of other bytes under one id 64 MiB are given, and of all of them what is known", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const sizes = [40, 24, 1].map((mib) => mib * 1024 * 1024);
      for (const [at, size] of sizes.entries())
        await store.append([newEvent({ payload: Buffer.alloc(size), receivedAt: NOW + at })]);
      const [event] = await store.get("e-1");
      assert.deepEqual(
        event?.conflicts.map(({ payload, deliveries, firstAt }) => [payload?.length, deliveries, firstAt]),
        [
          [sizes[0], 1, NOW],
          [sizes[1], 1, NOW + 1],
          [undefined, 1, NOW + 2],
        ],
      );
    });

    test("the results of a batch are in its order, duplicates within it included", async (t) => {
      const store = await open(t);
      const results = await store.append([
        newEvent({ eventId: "a" }),
        newEvent({ eventId: "b" }),
        newEvent({ eventId: "a" }),
        newEvent({ eventId: "b", payload: Buffer.from("other") }),
      ]);
      assert.deepEqual(
        results.map(({ duplicate, conflict }) => [duplicate, conflict]),
        [
          [false, false],
          [false, false],
          [true, false],
          [true, true],
        ],
      );
    });

    test("two sources never collide", async (t) => {
      const store = await open(t);
      const pairs = [
        ["a", "b:c"],
        ["a:b", "c"],
        ["b", "b:c"],
      ] as const;
      const results = await store.append(pairs.map(([source, eventId]) => newEvent({ source, eventId })));
      assert.ok(results.every(({ duplicate }) => !duplicate));
      assert.deepEqual(
        (await store.get("b:c")).map(({ source }) => source),
        ["a", "b"],
      );
      assert.equal((await store.get("b:c", "b")).length, 1);
      assert.equal((await store.get("b:c", "a:b")).length, 0);
    });

    test("ids that differ in case, form or space are different events", async (t) => {
      const store = await open(t);
      const ids = ["a", "A", "a ", "\u00e9", "e\u0301", "a\0", "1", "01"];
      const results = await store.append(ids.map((eventId) => newEvent({ eventId })));
      assert.ok(results.every(({ duplicate }) => !duplicate));
      for (const eventId of ids) assert.equal((await store.get(eventId))[0]?.eventId, eventId);
    });

    test("an event that was processed is still known", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const { claimed } = await store.claim({ owner: "a", limit: 1, leaseMs: 1000, maxAttempts: 5, now: NOW });
      const { id, attempt } = claimed[0] ?? { id: 0, attempt: 0 };
      const times = { startedAt: NOW, finishedAt: NOW, error: null };
      await store.settle([{ id, owner: "a", attempt, next: { to: "processed" }, ...times }]);
      assert.deepEqual(await store.append([newEvent()]), [{ duplicate: true, conflict: false }]);
      assert.equal((await store.get("e-1"))[0]?.status, "processed");
    });

    test("an id nobody knows is no event", async (t) => assert.deepEqual(await (await open(t)).get("e-1"), []));

    test("a store that answers says so", async (t) => (await open(t)).check());
  });

  suite(`event store: ${adapter}: lists`, () => {
    async function filled(t: Cleanup): Promise<EventStore> {
      const store = await open(t);
      const rows = [
        ["a", "push", "x"],
        ["b", "push", "y"],
        ["c", "pull_request", "x"],
        ["d", "push", "x"],
      ] as const;
      await store.append(
        rows.map(([eventId, type, source], i) => newEvent({ eventId, type, source, receivedAt: NOW + i * 10 })),
      );
      const { claimed } = await store.claim({ owner: "w", limit: 2, leaseMs: 1000, maxAttempts: 5, now: NOW + 100 });
      for (const { id, attempt, eventId } of claimed) {
        const next = eventId === "a" ? ({ to: "processed" } as const) : ({ to: "failed", reason: "no" } as const);
        const error = eventId === "a" ? null : "no";
        await store.settle([{ id, owner: "w", attempt, next, startedAt: NOW, finishedAt: NOW + 200, error }]);
      }
      return store;
    }

    for (const [what, filter, ids] of [
      ["everything", {}, "dcba"],
      ["a status", { status: "queued" }, "dc"],
      ["another status", { status: "failed" }, "b"],
      ["the last status", { status: "processed" }, "a"],
      ["a type", { type: "push" }, "dba"],
      ["a source", { source: "x" }, "dca"],
      ["a time, itself included", { since: NOW + 20 }, "dc"],
      ["all of them together", { status: "queued", type: "push", source: "x", since: NOW }, "d"],
      ["a processed type of a source", { status: "processed", type: "push", source: "x" }, "a"],
      ["nothing that fits", { type: "nothing" }, ""],
    ] as const) {
      test(`newest first, by ${what}`, async (t) => {
        const events = await (await filled(t)).list({ ...filter, limit: 100 });
        assert.equal(events.map(({ eventId }) => eventId).join(""), ids);
      });
    }

    test("hold no more than asked for", async (t) => {
      const events = await (await filled(t)).list({ limit: 2 });
      assert.deepEqual(
        events.map(({ eventId }) => eventId),
        ["d", "c"],
      );
    });

    test("show what waits for its first claim and what was claimed or given back in one order", async (t) => {
      const store = await open(t);
      await store.append([..."abcde"].map((eventId, at) => newEvent({ eventId, receivedAt: NOW + at })));
      const { claimed } = await claim(store, { limit: 3, now: NOW + 10 });
      const [a, b] = claimed.map(({ id, attempt }) => ({ id, owner: "a", attempt })) as [Claim, Claim];
      const next = { to: "queued", runAt: NOW + 60_000, isFree: false } as const;
      await store.settle([{ ...a, next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      await store.release([b], NOW + 10);
      const ids = async (filter: Omit<EventFilter, "limit">, limit = 10) =>
        (await store.list({ ...filter, limit })).map(({ eventId, attempts }) => eventId + attempts).join(" ");
      assert.equal(await ids({}), "e0 d0 c1 b0 a1");
      assert.equal(await ids({}, 3), "e0 d0 c1");
      assert.equal(await ids({ status: "queued", type: "push", source: "default", since: NOW + 1 }), "e0 d0 c1 b0");
      assert.equal(await ids({ status: "processed" }), "");
      assert.equal((await store.counts()).oldestQueuedAt, NOW);
    });

    test("tell the oldest of what waits, also when the clock was set back behind a claim", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ eventId: "a" })]);
      await claim(store);
      await store.append([newEvent({ eventId: "b", receivedAt: NOW - 10 })]);
      assert.equal((await store.backlog()).oldestQueuedAt, NOW - 10);
      await store.append([newEvent({ eventId: "c", receivedAt: NOW + 10 })]);
      assert.equal((await claim(store, { owner: "b", limit: 1, now: NOW + 10 })).claimed[0]?.eventId, "b");
      assert.equal((await store.backlog()).oldestQueuedAt, NOW - 10);
    });

    test("keep the order of arrival within one millisecond", async (t) => {
      const store = await open(t);
      await store.append(["a", "b", "c"].map((eventId) => newEvent({ eventId })));
      const events = await store.list({ limit: 10 });
      assert.equal(events.map(({ eventId }) => eventId).join(""), "cba");
    });

    test("show what an event has come to", async (t) => {
      const [failed] = await (await filled(t)).list({ status: "failed", limit: 1 });
      assert.deepEqual(failed, {
        source: "y",
        eventId: "b",
        type: "push",
        status: "failed",
        attempts: 1,
        receivedAt: NOW + 10,
        processedAt: null,
        lastError: "no",
      });
    });

    test("agree with the counts", async (t) => {
      const counts = await (await filled(t)).counts();
      assert.deepEqual(counts, { queued: 2, processed: 1, failed: 1, conflicts: 0, oldestQueuedAt: NOW + 20 });
    });

    test("of an empty store are empty, and so are its counts", async (t) => {
      const store = await open(t);
      assert.deepEqual(await store.list({ limit: 10 }), []);
      assert.deepEqual(await store.counts(), {
        queued: 0,
        processed: 0,
        failed: 0,
        conflicts: 0,
        oldestQueuedAt: null,
      });
    });
  });

  claimContract(adapter, open);
  replayContract(adapter, open);
}
