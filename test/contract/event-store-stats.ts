import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Next } from "../../src/events/job.ts";
import { DEFAULT_RETENTION } from "../../src/events/retention.ts";
import { HOURS_KEPT_MS, MINUTES_KEPT_MS, type StatRequest } from "../../src/events/stats.ts";
import type { EventStore } from "../../src/events/store.ts";
import { HOUR_MS, MINUTE_MS } from "../../src/lib/durations.ts";
import { claimOf, claimOne, NOW, newEvent, numbersOf, replayAll } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const DAY: Pick<StatRequest, "since" | "until"> = { since: NOW - 12 * HOUR_MS, until: NOW + 12 * HOUR_MS };
// The hour of NOW begins here.
const HOUR = NOW - (NOW % HOUR_MS);

const read = (store: EventStore, changes: Partial<StatRequest> = {}) =>
  store.stats({ ...DAY, step: "minute", ...changes });

/** Ends an attempt of the one due job at a time. */
async function end(store: EventStore, next: Next, finishedAt: number): Promise<void> {
  const job = await claimOne(store, { limit: 1, now: finishedAt });
  const error = next.to === "processed" ? null : "no";
  await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt, error }]);
}

/** Removes what is old at this time. */
async function purge(store: EventStore, now: number, isDryRun = false): Promise<void> {
  await store.purge({ retention: DEFAULT_RETENTION, now, limit: 100, isDryRun });
}

/** The counts of deliveries and attempts. */
export function statsContract(adapter: string, open: OpenEventStore): void {
  suite(`event store: ${adapter}: statistics`, () => {
    test("events are counted by the minute of their receipt, and duplicates are not", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ eventId: "a" }), newEvent({ eventId: "b", receivedAt: NOW + 59_999 })]);
      await store.append([newEvent({ eventId: "c", receivedAt: NOW + MINUTE_MS }), newEvent({ eventId: "a" })]);
      const { points, sums } = await read(store);
      assert.deepEqual(points, [
        { at: NOW, outcome: "received", slot: 0, count: 2 },
        { at: NOW + MINUTE_MS, outcome: "received", slot: 0, count: 1 },
      ]);
      assert.deepEqual(sums, [{ source: "default", route: "", outcome: "received", count: 3 }]);
    });

    test("attempts are counted by their outcome and route, with the latency of processed events", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await end(store, { to: "queued", runAt: NOW + 100 }, NOW + 100);
      await end(store, { to: "processed" }, NOW + 200);
      const { points, sums } = await read(store, { route: "default" });
      assert.deepEqual(points, [
        { at: NOW, outcome: "processed", slot: 0, count: 1 },
        { at: NOW, outcome: "retried", slot: 0, count: 1 },
        { at: NOW, outcome: "processed", slot: 9, count: 1 },
      ]);
      assert.deepEqual(
        sums.map(({ source, route, outcome }) => [source, route, outcome].join(" ")),
        ["default default processed", "default default retried"],
      );
    });

    test("a replayed event has no latency, because it waited for the replay", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await end(store, { to: "failed", reason: "no" }, NOW);
      await replayAll(store, NOW + 1000);
      await end(store, { to: "processed" }, NOW + 1000);
      const { points } = await read(store, { route: "default" });
      assert.deepEqual(
        points.map(({ outcome, slot }) => [outcome, slot]),
        [
          ["dead_lettered", 0],
          ["processed", 0],
        ],
      );
    });

    test("an expired lease is a failed attempt, and a lost claim is counted by its new owner only", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const lost = await claimOne(store);
      const again = await claimOne(store, { owner: "b", now: NOW + 40_000 });
      const ended = { startedAt: NOW, finishedAt: NOW + 40_000, error: null, next: { to: "processed" } } as const;
      await store.settle([{ ...claimOf(lost), ...ended }]);
      await store.settle([{ ...claimOf(again, "b"), ...ended }]);
      const { sums } = await read(store, { route: "default" });
      assert.deepEqual(
        sums.map(({ outcome, count }) => [outcome, count]),
        [
          ["processed", 1],
          ["retried", 1],
        ],
      );
    });

    test("an event that no route matches is counted once, under its source", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ source: "shop" }), newEvent({ source: "shop", eventId: "b" })]);
      await store.addJobs(numbersOf(await store.pending(10)), []);
      const { sums } = await read(store);
      assert.deepEqual(sums.at(-1), { source: "shop", route: "", outcome: "unrouted", count: 2 });
    });

    test("hours have the sums of their minutes", async (t) => {
      const store = await open(t);
      const minutes = [HOUR, HOUR + MINUTE_MS, HOUR + 59 * MINUTE_MS, HOUR + HOUR_MS];
      await store.append(minutes.map((receivedAt) => newEvent({ eventId: `e-${receivedAt}`, receivedAt })));
      const { points } = await read(store, { step: "hour" });
      assert.deepEqual(points, [
        { at: HOUR, outcome: "received", slot: 0, count: 3 },
        { at: HOUR + HOUR_MS, outcome: "received", slot: 0, count: 1 },
      ]);
    });

    test("a request has the time from since on, before until, and one source", async (t) => {
      const store = await open(t);
      const at = [NOW - MINUTE_MS, NOW, NOW + MINUTE_MS];
      await store.append(at.map((receivedAt) => newEvent({ eventId: `e-${receivedAt}`, receivedAt })));
      await store.append([newEvent({ source: "other" })]);
      const { points, sums } = await read(store, { since: NOW, until: NOW + MINUTE_MS, source: "default" });
      assert.deepEqual(points, [{ at: NOW, outcome: "received", slot: 0, count: 1 }]);
      assert.deepEqual(
        sums.map(({ source }) => source),
        ["default"],
      );
    });

    test("the recent attempts of each route are by the minute, with those that failed", async (t) => {
      const store = await open(t);
      await store.append(["a", "b", "c"].map((eventId) => newEvent({ eventId })));
      await end(store, { to: "processed" }, NOW);
      await end(store, { to: "processed" }, NOW + MINUTE_MS);
      await end(store, { to: "failed", reason: "no" }, NOW + MINUTE_MS);
      const second = { at: NOW + MINUTE_MS, route: "default", all: 2, failed: 1 };
      assert.deepEqual(await store.attemptsSince(NOW + MINUTE_MS + 1), [second]);
      assert.deepEqual(await store.attemptsSince(NOW), [{ at: NOW, route: "default", all: 1, failed: 0 }, second]);
      assert.deepEqual(await store.attemptsSince(NOW + 2 * MINUTE_MS), []);
    });

    test("minutes are removed after two days, hours after 400, and neither by a dry run", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const count = async (step: StatRequest["step"]) => (await read(store, { step })).points.length;
      await purge(store, NOW + MINUTES_KEPT_MS + 1, true);
      assert.equal(await count("minute"), 1);
      await purge(store, NOW + MINUTES_KEPT_MS + 1);
      assert.deepEqual([await count("minute"), await count("hour")], [0, 1]);
      await purge(store, NOW + HOURS_KEPT_MS + HOUR_MS);
      assert.equal(await count("hour"), 0);
    });
  });
}
