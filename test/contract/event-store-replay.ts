import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Next } from "../../src/events/job.ts";
import type { EventStore, JobFilter } from "../../src/events/store.ts";
import {
  claim,
  claimOf,
  claimOne,
  eventAndJob,
  NOW,
  newEvent,
  numbersOf,
  replayAll,
  reroute,
} from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const LATER = NOW + 60_000;

/** Replays of dead letters and of other events. */
export function replayContract(adapter: string, open: OpenEventStore): void {
  const one = (eventId: string) => ({ eventId, source: "default" });

  /** Appends an event and settles it with this result. */
  async function ended(store: EventStore, eventId: string, next: Next): Promise<void> {
    await store.append([newEvent({ eventId })]);
    const claimed = claimOf(await claimOne(store));
    const error = next.to === "processed" ? null : "no";
    await store.settle([{ ...claimed, next, startedAt: NOW, finishedAt: NOW, error }]);
  }
  const FAILED: Next = { to: "failed", reason: "no" };

  /** Appends events, and makes all due events fail. Returns their ids. */
  async function fail(store: EventStore, eventIds: string[], now: number) {
    await store.append(eventIds.map((eventId) => newEvent({ eventId, receivedAt: now })));
    const failed: string[] = [];
    for (;;) {
      const { claimed } = await claim(store, { limit: 10_000, now });
      if (claimed.length === 0) return failed;
      failed.push(...claimed.map(({ eventId }) => eventId));
      const end = { next: FAILED, startedAt: now, finishedAt: now, error: "no" };
      await store.settle(claimed.map((job) => ({ ...claimOf(job), ...end })));
    }
  }

  suite(`event store: ${adapter}: replay`, () => {
    test("queues a dead letter, due now, with a fresh budget and its history kept", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      assert.equal(await store.replay(one("e-1"), LATER), 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.dueAt, event?.deadLetter], ["queued", LATER, null]);
      assert.deepEqual([event?.attempts, event?.history?.length], [1, 1]);
      assert.equal((await store.backlog()).failed, 0);
      const claimed = await claimOne(store, { now: LATER });
      assert.deepEqual([claimed.attempt, claimed.attemptOfBudget], [2, 1]);
    });

    test("gives an event its whole budget again before it is dead-lettered again, also when processes die", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      await store.replay(one("e-1"), LATER);
      const crash = (round: number) => ({ retryDelaysMs: [0], leaseMs: 1000, now: LATER + round * 1000 });
      await claimOne(store, crash(0));
      await claimOne(store, crash(1));
      assert.equal((await claim(store, crash(2))).deadLettered.length, 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual(
        event?.history?.map(({ attempt, replay, attemptOfBudget, outcome }) => [
          attempt,
          replay,
          attemptOfBudget,
          outcome,
        ]),
        [
          [1, 0, 1, "failed"],
          [2, 1, 1, "lease_expired"],
          [3, 1, 2, "lease_expired"],
        ],
      );
      assert.deepEqual([event?.attempts, event?.replays, event?.attemptsOfBudget], [3, 1, 2]);
      assert.equal(event?.deadLetter?.failedAt, LATER + 2000);
    });

    test("does not replay a processed event unless forced", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", { to: "processed" });
      assert.equal(await store.replay(one("e-1"), LATER), 0);
      assert.equal((await store.get("e-1"))[0]?.status, "processed");
      assert.equal(await store.reroute(one("e-1")), true);
      const [waiting] = await store.get("e-1");
      assert.deepEqual([waiting?.status, waiting?.processedAt], ["queued", null]);
      assert.equal(await reroute(store), 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.processedAt, event?.dueAt], ["queued", null, NOW]);
      assert.equal((await claimOne(store, { now: LATER })).attemptOfBudget, 1);
      assert.equal((await eventAndJob(store, "e-1"))?.replays, 1);
      assert.equal(await reroute(store), 0);
    });

    test("does not replay a queued or leased event, forced or not", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      for (const prepare of [async () => {}, () => claimOne(store)]) {
        await prepare();
        assert.equal(await store.replay(one("e-1"), LATER), 0);
        assert.equal(await store.reroute(one("e-1")), false);
      }
      assert.equal((await eventAndJob(store, "e-1"))?.leased, true);
    });

    test("forced, gives an event to the routes that match now, also to new ones, and leaves its other jobs", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      await store.append([newEvent({ eventId: "unrouted" })]);
      const unrouted = await store.pending(1);
      await store.addJobs(numbersOf(unrouted), []);
      for (const eventId of ["e-1", "unrouted"]) assert.equal(await store.reroute(one(eventId)), true);
      assert.equal(await reroute(store, ["new"], "key"), 2);
      const jobsOf = async (eventId: string) =>
        (await store.get(eventId))[0]?.jobs.map(({ route, status, dueAt }) => [route, status, dueAt]);
      assert.deepEqual(await jobsOf("e-1"), [
        ["default", "failed", null],
        ["new", "queued", NOW],
      ]);
      assert.deepEqual(await jobsOf("unrouted"), [["new", "queued", null]]);
      const { queued, processed, failed, unrouted: count } = await store.backlog();
      assert.deepEqual([queued, processed, failed, count], [2, 0, 0, 0]);
    });

    test("forced, moves a job to its present ordering key, and lets the next of its earlier key run", async (t) => {
      const store = await open(t);
      await store.append(["a", "b"].map((eventId) => newEvent({ eventId })));
      const events = await store.pending(2);
      const jobs = events.map(({ id }) => ({ event: id, route: "default", dueAt: NOW, orderingKey: "old" }));
      await store.addJobs(numbersOf(events), jobs);
      const next = { to: "failed", reason: "no", blocks: true } as const;
      await store.settle([{ ...claimOf(await claimOne(store)), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      assert.deepEqual((await claim(store)).claimed, []);
      await store.reroute(one("a"));
      await reroute(store, ["default"], "new");
      const { claimed } = await claim(store);
      assert.deepEqual(claimed.map(({ eventId }) => eventId).sort(), ["a", "b"]);
    });

    // https://github.com/OptimalBits/bull/issues/2540
    test("of a paused route waits with the later events, and is claimed once the route is resumed", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      await store.pauseRoute("default", NOW);
      assert.equal(await store.replay(one("e-1"), NOW), 1);
      await store.append([newEvent({ eventId: "e-2" })]);
      assert.deepEqual((await claim(store)).claimed, []);
      await store.resumeRoute("default", NOW);
      const { claimed } = await claim(store);
      assert.deepEqual(claimed.map(({ eventId }) => eventId).sort(), ["e-1", "e-2"]);
    });

    test("finds no event with another source or id", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      assert.equal(await store.replay({ ...one("e-1"), source: "other" }, LATER), 0);
      assert.equal(await store.replay(one("e-2"), LATER), 0);
      assert.equal((await store.backlog()).failed, 1);
    });

    test("of all dead letters replays all of them and nothing else", async (t) => {
      const store = await open(t);
      await ended(store, "a", FAILED);
      await ended(store, "b", { to: "processed" });
      await ended(store, "c", FAILED);
      assert.deepEqual(await replayAll(store, LATER), { count: 2, next: null });
      const counts = await store.backlog();
      assert.deepEqual([counts.queued, counts.processed, counts.failed], [2, 1, 0]);
      assert.deepEqual(await replayAll(store, LATER), { count: 0, next: null });
    });

    for (const [what, filter, ids] of [
      ["source", { source: "x" }, "ac"],
      ["type", { type: "push" }, "ab"],
      ["route", { route: "default" }, "abc"],
      ["another route", { route: "other" }, ""],
      ["time", { since: NOW + 10, until: NOW + 20 }, "b"],
      ["error, in any case", { error: "TIMED" }, "ab"],
      ["all of them", { source: "x", type: "push", route: "default", since: NOW, error: "timed" }, "a"],
    ] as const) {
      test(`of many takes those of a ${what}, and counts them first`, async (t) => {
        const store = await open(t);
        const events = [
          ["a", "x", "push", "timed out"],
          ["b", "y", "push", "timed out"],
          ["c", "x", "pull", "refused"],
          ["d", "x", "push", null],
        ] as const;
        await store.append(
          events.map(([eventId, source, type], at) => newEvent({ eventId, source, type, receivedAt: NOW + at * 10 })),
        );
        for (const job of (await claim(store, { now: NOW + 100 })).claimed) {
          const error = events.find(([eventId]) => eventId === job.eventId)?.[3] ?? null;
          const next = error === null ? ({ to: "processed" } as const) : FAILED;
          await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error }]);
        }
        const jobs: JobFilter = { status: "failed", ...filter };
        assert.deepEqual(await store.count(jobs, { limit: 10 }), { count: ids.length, next: null });
        assert.equal((await replayAll(store, LATER, filter)).count, ids.length);
        const queued = await store.list({ status: "queued", limit: 10 });
        assert.equal(
          queued.items
            .map(({ eventId }) => eventId)
            .sort()
            .join(""),
          ids,
        );
      });
    }

    test("of many takes each once, in pages of any size, and none that fails meanwhile", async (t) => {
      const store = await open(t);
      const ids = Array.from({ length: 2500 }, (_, n) => `e-${n}`);
      await fail(store, ids, NOW);
      const failedAgain: string[] = [];
      let total = 0;
      for (let cursor: string | null | undefined; cursor !== null; ) {
        const { count, next } = await store.replayAll({ status: "failed" }, LATER, { limit: 700, cursor });
        assert.ok(count <= 700);
        total += count;
        cursor = next;
        failedAgain.push(...(await fail(store, [`new-${total}`], LATER)));
      }
      assert.equal(total, ids.length);
      assert.deepEqual(
        failedAgain.filter((eventId) => !eventId.startsWith("new-")),
        ids,
      );
      assert.equal((await store.backlog()).failed, failedAgain.length);
    });

    test("of a conflict queues its bytes as an event of its own, with the secret that verified them", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ secret: "env:NEW" })]);
      await store.append([newEvent({ secret: "env:OLD", payload: Buffer.from("other") })]);
      assert.equal(await store.replayConflict(one("e-1"), 1, LATER), true);
      assert.equal(await store.replayConflict(one("e-1"), 1, LATER), false);
      const sha256 = (await store.get("e-1"))[0]?.conflicts[0]?.payloadSha256;
      const [replayed] = await store.get(`sha256:${sha256}`);
      assert.deepEqual([replayed?.secret, replayed?.receivedAt], ["env:OLD", LATER]);
      assert.equal(Buffer.from(replayed?.payload ?? []).toString(), "other");
    });

    test("prevents the worker of an earlier attempt from settling", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      await store.replay(one("e-1"), LATER);
      const job = await claimOne(store, { owner: "b", now: LATER });
      const late = { ...claimOf(job), attempt: 1, startedAt: NOW, finishedAt: LATER, error: null };
      assert.deepEqual(await store.settle([{ ...late, next: { to: "processed" } }]), [false]);
      assert.equal((await store.get("e-1"))[0]?.status, "queued");
    });
  });
}
