import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { claimOf, claimOne, NOW, newEvent } from "../helpers/events.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { arrivalContract } from "./event-store-arrivals.ts";
import { claimContract } from "./event-store-claims.ts";
import { discardContract } from "./event-store-discard.ts";
import { erasureContract } from "./event-store-erasure.ts";
import { jobContract } from "./event-store-jobs.ts";
import { listContract } from "./event-store-lists.ts";
import { orderContract } from "./event-store-order.ts";
import { orderPropertyContract } from "./event-store-order-property.ts";
import { repeatContract } from "./event-store-repeats.ts";
import { replayContract } from "./event-store-replay.ts";
import { retentionContract } from "./event-store-retention.ts";
import { routeContract } from "./event-store-routes.ts";
import { sentBodyContract } from "./event-store-sent-bodies.ts";
import { shadowContract } from "./event-store-shadows.ts";
import { statsContract } from "./event-store-stats.ts";
import { valueContract } from "./event-store-values.ts";

export type OpenEventStore = (context: Cleanup) => Promise<EventStore>;

/** The contract of every event store. `open` returns an empty one, which is closed after the test. */
export function eventStoreContract(adapter: string, open: OpenEventStore): void {
  intakeContract(adapter, open);
  arrivalContract(adapter, open);
  repeatContract(adapter, open);
  jobContract(adapter, open);
  listContract(adapter, open);
  claimContract(adapter, open);
  replayContract(adapter, open);
  discardContract(adapter, open);
  erasureContract(adapter, open);
  orderContract(adapter, open);
  orderPropertyContract(adapter, open);
  routeContract(adapter, open);
  sentBodyContract(adapter, open);
  shadowContract(adapter, open);
  statsContract(adapter, open);
  retentionContract(adapter, open);
  valueContract(adapter, open);
}

/** What holds for deliveries that are stored. */
export function intakeContract(adapter: string, open: OpenEventStore): void {
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
        routes: [],
        receivedAt: NOW,
        processedAt: null,
        lastError: null,
        address: "192.0.2.1",
        secret: "env:SECRET",
        headers: { a: "ñ", b: "" },
        contentType: "application/json",
        erased: null,
        jobs: [],
        conflicts: [],
        repeats: [],
      });
    });

    test("each event has the name of the secret that verified it", async (t) => {
      const store = await open(t);
      const secrets = { a: "env:NEW", b: "file:/run/secrets/contraseña", c: "" };
      const rows = Object.entries(secrets);
      await store.append(rows.map(([eventId, secret]) => newEvent({ eventId, secret })));
      for (const [eventId, secret] of rows) assert.equal((await store.get(eventId))[0]?.secret, secret);
    });

    test("the same delivery again is a duplicate and changes nothing", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const before = await store.get("e-1");
      const again = newEvent({ receivedAt: NOW + 5, address: "192.0.2.9", type: "other" });
      assert.deepEqual(await store.append([again]), [{ duplicate: true, conflict: false }]);
      assert.deepEqual(await store.get("e-1"), before);
      assert.equal((await store.backlog()).queued, 1);
    });

    test("with an unsigned id the bytes identify a duplicate, and the result names the stored event", async (t) => {
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
          { duplicate: true, conflict: false, repeat: true, eventId: "a" },
          { duplicate: false, conflict: false, eventId: idOf("2") },
        ],
      );
      assert.deepEqual(await store.append([unsigned("a", "2"), unsigned("c", "2")]), [
        { duplicate: true, conflict: false, repeat: true, eventId: idOf("2") },
        { duplicate: true, conflict: false, repeat: true, eventId: idOf("2") },
      ]);
      assert.deepEqual(await store.append([{ ...unsigned("a", "1"), source: "other" }]), [
        { duplicate: false, conflict: false },
      ]);
      assert.equal((await store.backlog()).conflicts, 0);
    });

    test("an event is stored, even if a duplicate in its batch has its id", async (t) => {
      const store = await open(t);
      const unsigned = (eventId: string) => newEvent({ eventId, bytesSha256: "ab".repeat(32) });
      const results = await store.append([unsigned("a"), unsigned("b"), newEvent({ eventId: "b", type: "genuine" })]);
      assert.deepEqual(
        results.map(({ duplicate }) => duplicate),
        [false, true, false],
      );
      assert.equal((await store.get("b"))[0]?.type, "genuine");
    });

    test("a signed event is stored once, even if an unsigned event has its id", async (t) => {
      const store = await open(t);
      const payload = Buffer.from("captured");
      const bytesSha256 = createHash("sha256").update(payload).digest("hex");
      await store.append([newEvent({ payload, bytesSha256 })]);
      const [first, again] = [await store.append([newEvent()]), await store.append([newEvent()])];
      assert.deepEqual([first[0]?.duplicate, again[0]?.duplicate], [false, true]);
      assert.match(String(first[0]?.eventId), /^sha256:[0-9a-f]{64}$/);
      assert.equal(again[0]?.eventId, first[0]?.eventId);
    });

    test("other bytes under a known id are stored as a conflict and counted", async (t) => {
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
      assert.equal((await store.backlog()).conflicts, 3);
    });

    test("conflicts are returned with up to 64 MiB of payloads, and beyond that without payloads", async (t) => {
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

    test("with bytes that are never the same, each delivery is an event, with a number behind a taken id", async (t) => {
      const store = await open(t);
      const delivery = (eventId: string) => newEvent({ eventId, sameWithinMs: 0 });
      const inOne = await store.append([delivery("a"), delivery("a"), delivery("b"), delivery("a")]);
      assert.deepEqual(inOne, [
        { duplicate: false, conflict: false },
        { duplicate: false, conflict: false, eventId: "a~2" },
        { duplicate: false, conflict: false },
        { duplicate: false, conflict: false, eventId: "a~3" },
      ]);
      for (let number = 4; number < 12; number++)
        assert.equal((await store.append([delivery("a")]))[0]?.eventId, `a~${number}`);
      assert.equal((await store.get("a~11")).length, 1);
      assert.equal((await store.append([{ ...delivery("a"), source: "other" }]))[0]?.eventId, undefined);
      assert.equal((await store.backlog()).queued, 13);
    });

    test("with a time, the same bytes are a duplicate within it and an event after it", async (t) => {
      const store = await open(t);
      const delivery = (eventId: string, at: number, text = "same") =>
        newEvent({
          eventId,
          payload: Buffer.from(text),
          bytesSha256: createHash("sha256").update(text).digest("hex"),
          sameWithinMs: 1000,
          receivedAt: NOW + at,
        });
      assert.deepEqual(await store.append([delivery("a", 0), delivery("a", 999), delivery("b", 999)]), [
        { duplicate: false, conflict: false },
        { duplicate: true, conflict: false },
        { duplicate: true, conflict: false, repeat: true, eventId: "a" },
      ]);
      assert.deepEqual(await store.append([delivery("a", 1000), delivery("a", 1999), delivery("a", 1001, "other")]), [
        { duplicate: false, conflict: false, eventId: "a~2" },
        { duplicate: true, conflict: false, eventId: "a~2" },
        { duplicate: false, conflict: false, eventId: "a~3" },
      ]);
      assert.equal(Buffer.from((await store.get("a~3"))[0]?.payload ?? []).toString(), "other");
    });

    test("the results are in the order of the batch, including duplicates within it", async (t) => {
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
      const ids = ["a", "A", "a ", "\u00e9", "e\u0301", "a\u0001", "1", "01"];
      const results = await store.append(ids.map((eventId) => newEvent({ eventId })));
      assert.ok(results.every(({ duplicate }) => !duplicate));
      for (const eventId of ids) assert.equal((await store.get(eventId))[0]?.eventId, eventId);
    });

    test("a processed event is still detected as a duplicate", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const times = { startedAt: NOW, finishedAt: NOW, error: null };
      await store.settle([{ ...claimOf(await claimOne(store)), next: { to: "processed" }, ...times }]);
      assert.deepEqual(await store.append([newEvent()]), [{ duplicate: true, conflict: false }]);
      assert.equal((await store.get("e-1"))[0]?.status, "processed");
    });

    test("an unknown id returns no event", async (t) => assert.deepEqual(await (await open(t)).get("e-1"), []));

    test("a check of a working store succeeds", async (t) => (await open(t)).check());
  });
}
