import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import type { Next } from "../../src/events/job.ts";
import { DEFAULT_RETENTION, type Retention } from "../../src/events/retention.ts";
import type { EventStore, NewEvent } from "../../src/events/store.ts";
import { claim, claimOf, fanOut, NOW, newEvent, numbersOf, reroute } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const MINUTE = 60_000;
const none = { count: Number.POSITIVE_INFINITY, bytes: Number.POSITIVE_INFINITY };

/** Processed events are kept for one minute, failed ones for two, and ids for three. */
const SHORT: Retention = {
  processed: { forMs: MINUTE, ...none },
  failed: { forMs: 2 * MINUTE, ...none },
  idsMs: 3 * MINUTE,
  maxBytes: Number.POSITIVE_INFINITY,
};

const DONE: Next = { to: "processed" };
const FAILED: Next = { to: "failed", reason: "no" };

/** Removal of old events. */
export function retentionContract(adapter: string, open: OpenEventStore): void {
  /** Stores events with their ends. An event without one stays queued. */
  async function add(store: EventStore, events: Record<string, Next | null>, changes: Partial<NewEvent> = {}) {
    await store.append(Object.keys(events).map((eventId) => newEvent({ eventId, ...changes })));
    const { claimed } = await claim(store, { limit: 1000 });
    for (const job of claimed) {
      const end = job.eventId in events ? events[job.eventId] : DONE;
      const next = end ?? { to: "queued", runAt: NOW, isFree: true };
      const error = next.to === "processed" ? null : "no";
      await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error }]);
    }
  }

  /** Stores a processed event as a clock that is behind does. */
  async function addBehind(store: EventStore, eventId: string, at: number) {
    await store.append([newEvent({ eventId, receivedAt: at })]);
    const { claimed } = await claim(store);
    const end = { next: DONE, startedAt: at, finishedAt: at, error: null };
    await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
  }

  /** Purges page by page. */
  async function purge(store: EventStore, now: number, retention = SHORT, limit = 1000, isDryRun = false) {
    const purged = { events: 0, ids: 0 };
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await store.purge({ retention, now, limit, isDryRun, cursor });
      assert.ok(page.events <= limit && page.ids <= limit);
      purged.events += page.events;
      purged.ids += page.ids;
      cursor = page.next;
    }
    return purged;
  }

  const idsIn = async (store: EventStore) =>
    (await store.list({ limit: 1000 })).items
      .map(({ eventId }) => eventId)
      .reverse()
      .join("");

  suite(`event store: ${adapter}: retention`, () => {
    test("removes processed and failed events by age, and never queued ones", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE, b: FAILED, c: null, d: DONE });
      assert.deepEqual(await purge(store, NOW + MINUTE - 1), { events: 0, ids: 0 });
      assert.deepEqual(await purge(store, NOW + MINUTE), { events: 2, ids: 0 });
      assert.equal(await idsIn(store), "bc");
      const { queued, processed, failed, ids } = await store.backlog();
      assert.deepEqual([queued, processed, failed, ids], [1, 0, 1, 4]);
      assert.deepEqual(await purge(store, NOW + 2 * MINUTE), { events: 1, ids: 0 });
      assert.equal(await idsIn(store), "c");
      assert.deepEqual(await purge(store, NOW + 1e12), { events: 0, ids: 2 });
      assert.equal(await idsIn(store), "c");
      assert.equal((await store.get("c"))[0]?.status, "queued");
      const [route] = await store.routes(NOW);
      assert.deepEqual([route?.queued, route?.processed, route?.failed], [1, 0, 0]);
    });

    test("counts the age from the end of the processing", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ receivedAt: NOW - 10 * MINUTE })]);
      const { claimed } = await claim(store);
      const end = { next: DONE, startedAt: NOW, finishedAt: NOW, error: null };
      await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
      assert.equal((await purge(store, NOW + MINUTE - 1)).events, 0);
      assert.equal((await purge(store, NOW + MINUTE)).events, 1);
    });

    test("an event of a clock that was ahead does not keep later events", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE }, { receivedAt: NOW + 1e10 });
      await add(store, { b: DONE, c: FAILED, last: null });
      await purge(store, NOW + MINUTE);
      assert.equal(await idsIn(store), "aclast");
      await purge(store, NOW + 3 * MINUTE);
      assert.equal(await idsIn(store), "alast");
      assert.equal((await store.backlog()).ids, 2);
    });

    test("an event of a clock that was behind is kept as long as its neighbours", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE });
      await addBehind(store, "b", NOW - 1e10);
      await add(store, { last: null });
      await purge(store, NOW + MINUTE - 1);
      assert.equal(await idsIn(store), "ablast");
      await purge(store, NOW + MINUTE);
      assert.equal((await store.append([newEvent({ eventId: "b" })]))[0]?.duplicate, true);
      await purge(store, NOW + 3 * MINUTE);
      assert.equal((await store.backlog()).ids, 1);
    });

    test("an event of a clock that was known to be behind is kept as long as what came when it was set right", async (t) => {
      const store = await open(t);
      const then = NOW - 1e10;
      assert.equal(await store.noteClock({ now: then, isBehind: true }), 0);
      await addBehind(store, "b", then);
      await purge(store, NOW);
      assert.equal(await idsIn(store), "b");
      assert.equal(await store.noteClock({ now: NOW + MINUTE, isBehind: false }), 1);
      await add(store, { last: null }, { receivedAt: NOW + MINUTE });
      await purge(store, NOW + 2 * MINUTE - 1);
      assert.equal(await idsIn(store), "blast");
      assert.equal((await store.append([newEvent({ eventId: "b" })]))[0]?.duplicate, true);
      await purge(store, NOW + 2 * MINUTE);
      assert.equal(await idsIn(store), "last");
    });

    test("a late delivery of a removed event is a duplicate until its id is removed", async (t) => {
      const store = await open(t);
      const payload = Buffer.from("unsigned");
      const bytesSha256 = createHash("sha256").update(payload).digest("hex");
      const unsigned = newEvent({ eventId: "u", payload, bytesSha256 });
      await store.append([unsigned]);
      await add(store, { a: DONE, last: null });
      await purge(store, NOW + MINUTE);
      const isDuplicate = async (event: NewEvent) => (await store.append([event]))[0];
      const duplicate = { duplicate: true, conflict: false };
      assert.equal(await idsIn(store), "last");
      assert.deepEqual(await isDuplicate(newEvent({ eventId: "a" })), duplicate);
      assert.deepEqual(await isDuplicate(newEvent({ eventId: "a", payload: Buffer.from("other") })), duplicate);
      assert.deepEqual(await isDuplicate(unsigned), duplicate);
      // There is nothing left that a repeat could be kept beside.
      assert.deepEqual(await isDuplicate({ ...unsigned, eventId: "v" }), { ...duplicate, eventId: "u" });
      // A signed event under the id of an unsigned one: the bytes decide.
      assert.deepEqual(await isDuplicate({ ...unsigned, bytesSha256: null }), duplicate);
      assert.deepEqual(await store.get("a"), []);
      await purge(store, NOW + 3 * MINUTE);
      assert.deepEqual(await isDuplicate(newEvent({ eventId: "a" })), { duplicate: false, conflict: false });
      assert.deepEqual(await isDuplicate(unsigned), { duplicate: false, conflict: false });
    });

    test("a row number is never used again, even if all events and ids are removed", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE, b: DONE });
      await purge(store, NOW + 1e12);
      assert.equal((await store.backlog()).ids, 1);
      await store.append([newEvent({ eventId: "c" })]);
      assert.equal((await store.pending(1))[0]?.id, 3);
      await fanOut(store);
      assert.equal((await claim(store)).claimed[0]?.eventId, "c");
    });

    test("removes the oldest beyond a number of events of a status", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE, b: FAILED, c: DONE, d: FAILED, e: DONE });
      const retention = { ...DEFAULT_RETENTION, processed: { ...DEFAULT_RETENTION.processed, count: 1 } };
      assert.equal((await purge(store, NOW, retention)).events, 2);
      assert.equal(await idsIn(store), "bde");
      const failed = { ...DEFAULT_RETENTION, failed: { ...DEFAULT_RETENTION.failed, count: 0 } };
      assert.equal((await purge(store, NOW, failed, 1)).events, 2);
      assert.equal(await idsIn(store), "e");
    });

    test("removes the oldest beyond a number of bytes of a status", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE, b: DONE, c: DONE }, { payload: Buffer.alloc(998), headers: "{}" });
      const keeping = (bytes: number) => ({
        ...DEFAULT_RETENTION,
        processed: { ...DEFAULT_RETENTION.processed, bytes },
      });
      assert.equal((await purge(store, NOW, keeping(3000))).events, 0);
      assert.equal((await purge(store, NOW, keeping(2999))).events, 1);
      assert.equal(await idsIn(store), "bc");
      // A replayed event counts while it is processed.
      await store.reroute({ eventId: "b", source: "default" });
      await reroute(store);
      assert.equal((await purge(store, NOW, keeping(1000))).events, 0);
      assert.equal((await purge(store, NOW, keeping(999))).events, 1);
      assert.equal(await idsIn(store), "b");
    });

    test("beyond the size of the database removes processed events first, then failed ones", async (t) => {
      const store = await open(t);
      const payload = Buffer.alloc(100_000, "x");
      await add(store, { a: FAILED, b: DONE, c: null, d: DONE, e: FAILED }, { payload });
      const { bytes } = await store.backlog();
      await purge(store, NOW, { ...DEFAULT_RETENTION, maxBytes: bytes - 1 });
      assert.equal(await idsIn(store), "acde");
      await purge(store, NOW, { ...DEFAULT_RETENTION, maxBytes: bytes - 250_000 });
      assert.equal(await idsIn(store), "ce");
      assert.ok((await store.backlog()).bytes <= bytes - 250_000);
      await purge(store, NOW, { ...DEFAULT_RETENTION, maxBytes: 0 });
      assert.equal(await idsIn(store), "c");
    });

    test("goes page by page, and a dry run counts the same and changes nothing", async (t) => {
      const store = await open(t);
      const events = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`e-${n}`, n % 5 === 0 ? FAILED : DONE]));
      await add(store, events);
      for (const retention of [SHORT, { ...SHORT, processed: { ...SHORT.processed, forMs: 1e12, count: 7 } }]) {
        for (const now of [NOW + MINUTE, NOW + 1e10]) {
          const before = await store.backlog();
          const counted = await purge(store, now, retention, 3, true);
          assert.deepEqual(await store.backlog(), before);
          assert.deepEqual(await purge(store, now, retention, 3), counted);
        }
      }
    });

    test("the events that are left are listed by each filter", async (t) => {
      const store = await open(t);
      await store.append(
        [..."abcdef"].map((eventId, at) =>
          newEvent({ eventId, source: at % 2 ? "x" : "y", type: eventId, receivedAt: NOW + at * MINUTE }),
        ),
      );
      const { claimed } = await claim(store, { now: NOW + 10 * MINUTE });
      for (const job of claimed) {
        const next = "bd".includes(job.eventId) ? FAILED : DONE;
        const end = { startedAt: NOW, finishedAt: job.receivedAt, error: next === DONE ? null : "no" };
        await store.settle([{ ...claimOf(job), next, ...end }]);
      }
      await purge(store, NOW + 5 * MINUTE, { ...SHORT, failed: { ...SHORT.failed, forMs: 3 * MINUTE } });
      const ids = async (filter: object) =>
        (await store.list({ ...filter, limit: 10 })).items.map(({ eventId }) => eventId).join("");
      assert.equal(await ids({}), "fd");
      assert.equal(await ids({ source: "x" }), "fd");
      assert.equal(await ids({ source: "y" }), "");
      assert.equal(await ids({ type: "a" }), "");
      assert.equal(await ids({ status: "failed" }), "d");
      for (const minute of [0, 2, 3]) assert.equal(await ids({ since: NOW + minute * MINUTE }), "fd");
      assert.equal(await ids({ since: NOW + 4 * MINUTE }), "f");
    });

    test("an event that came after the clock was set back is listed until a time when older events are removed", async (t) => {
      const store = await open(t);
      await add(store, { a: DONE });
      await add(store, { b: FAILED }, { receivedAt: NOW + 5 * MINUTE });
      await add(store, { c: FAILED });
      await purge(store, NOW + 10 * MINUTE, { ...SHORT, failed: { ...SHORT.failed, forMs: 60 * MINUTE } });
      const until = async (minute: number) => {
        const { items } = await store.list({ until: NOW + minute * MINUTE, limit: 10 });
        return items.map(({ eventId }) => eventId).join("");
      };
      assert.deepEqual([await until(0), await until(1), await until(6)], ["", "c", "cb"]);
    });

    test("a removed dead letter that blocked its ordering key lets the next job run", async (t) => {
      const store = await open(t);
      await store.append(["a", "b"].map((eventId) => newEvent({ eventId })));
      const events = await store.pending(2);
      const jobs = events.map(({ id }) => ({ event: id, route: "default", dueAt: NOW, orderingKey: "key" }));
      await store.addJobs(numbersOf(events), jobs);
      const { claimed } = await claim(store);
      const next = { to: "failed", reason: "no", blocks: true } as const;
      const end = { next, startedAt: NOW, finishedAt: NOW, error: "no" };
      await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
      assert.deepEqual((await claim(store)).claimed, []);
      await purge(store, NOW + 2 * MINUTE);
      assert.equal((await claim(store, { now: NOW + 2 * MINUTE })).claimed[0]?.eventId, "b");
    });

    test("an unrouted event is removed like a processed one", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await store.addJobs(numbersOf(await store.pending(1)), []);
      assert.equal((await purge(store, NOW + MINUTE - 1)).events, 0);
      assert.equal((await purge(store, NOW + MINUTE)).events, 1);
      const { unrouted, processed } = await store.backlog();
      assert.deepEqual([unrouted, processed], [0, 0]);
    });
  });
}
