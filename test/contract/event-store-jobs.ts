import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type ClaimedJob, isUnjudged, type Next } from "../../src/events/job.ts";
import type { EventStore } from "../../src/events/store.ts";
import { claim, claimOf, NOW, newEvent, numbersOf, replayAll, reroute } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const DONE: Next = { to: "processed" };
const FAILED: Next = { to: "failed", reason: "no" };

/** Fan-out, and events with several jobs or none. */
export function jobContract(adapter: string, open: OpenEventStore): void {
  /** Stores events and adds a job for each of these routes. */
  async function withJobs(store: EventStore, eventIds: string[], routes: string[]): Promise<void> {
    await store.append(eventIds.map((eventId) => newEvent({ eventId })));
    const events = await store.pending(100);
    const jobs = events.flatMap(({ id }) =>
      routes.map((route) => ({ event: id, route, dueAt: NOW, orderingKey: null })),
    );
    await store.addJobs(numbersOf(events), jobs);
  }

  async function settle(store: EventStore, job: ClaimedJob, next: Next, finishedAt = NOW): Promise<void> {
    const error = next.to === "processed" ? null : `${job.route} failed`;
    assert.deepEqual(await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt, error }]), [true]);
  }

  async function claimOf1(store: EventStore, route: string): Promise<ClaimedJob> {
    const { claimed } = await claim(store, { route, limit: 1 });
    assert.equal(claimed.length, 1);
    return claimed[0] as ClaimedJob;
  }

  const countsOf = async (store: EventStore) => {
    const { queued, processed, failed } = await store.backlog();
    return [queued, processed, failed];
  };

  suite(`event store: ${adapter}: jobs`, () => {
    test("a job with a failure is a dead letter from the start, and a replay queues it", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ eventId: "a" }), newEvent({ eventId: "b" })]);
      const [a = 0, b = 0] = numbersOf(await store.pending(10));
      const job = { dueAt: NOW, orderingKey: null };
      const jobs = [
        { event: a, route: "when", ...job, failure: "not judged" },
        { event: b, route: "when", ...job, failure: "not judged" },
        { event: b, route: "all", ...job },
      ];
      await store.addJobs([a, b], jobs);
      assert.deepEqual(await countsOf(store), [1, 0, 1]);
      await settle(store, await claimOf1(store, "all"), DONE);
      assert.deepEqual(await countsOf(store), [0, 0, 2]);
      const [found] = (await store.get("a"))[0]?.jobs ?? [];
      assert.deepEqual(found?.deadLetter, { failedAt: NOW, reason: "not judged" });
      assert.deepEqual([found?.attempts, found?.lastError], [0, "not judged"]);
      assert.equal((await store.list({ status: "failed", error: "not judged", limit: 10 })).items.length, 2);
      assert.deepEqual((await claim(store, { route: "when", limit: 1 })).claimed, []);
      assert.equal(await store.replay({ eventId: "a", source: "default" }, NOW), 1);
      assert.deepEqual(await countsOf(store), [1, 0, 1]);
      const replayed = await claimOf1(store, "when");
      assert.deepEqual([replayed.event, isUnjudged(replayed)], [a, true]);
      await settle(store, replayed, FAILED);
      await store.replay({ eventId: "a", source: "default" }, NOW);
      assert.equal(isUnjudged(await claimOf1(store, "when")), false, "it was judged before");
    });

    test("events without jobs are listed in order of arrival until their jobs are added", async (t) => {
      const store = await open(t);
      await store.append([
        newEvent({ eventId: "a", type: "x", source: "s" }),
        newEvent({ eventId: "b", receivedAt: NOW - 1 }),
        newEvent({ eventId: "c" }),
      ]);
      const waiting = await store.pending(2);
      assert.deepEqual(
        waiting.map(({ source, type, receivedAt }) => [source, type, receivedAt]),
        [
          ["s", "x", NOW],
          ["default", "push", NOW - 1],
        ],
      );
      const due = { route: "default", owner: "a", limit: 10, leaseMs: 1000, retryDelaysMs: [], now: NOW };
      assert.deepEqual((await store.claim(due)).claimed, []);
      assert.deepEqual([(await store.get("a"))[0]?.status, (await store.get("a"))[0]?.jobs], ["queued", []]);
      await store.addJobs(numbersOf(waiting.slice(0, 2)), []);
      assert.equal((await store.pending(10)).length, 1);
    });

    test("jobs are added once, even if the call is repeated because its answer was lost", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const [event] = await store.pending(1);
      const jobs = [{ event: event?.id as number, route: "default", dueAt: NOW, orderingKey: null }];
      for (let time = 0; time < 2; time++) await store.addJobs([event?.id as number], jobs);
      assert.equal((await store.get("e-1"))[0]?.jobs.length, 1);
      assert.deepEqual(await countsOf(store), [1, 0, 0]);
    });

    test("a claim is for one route", async (t) => {
      const store = await open(t);
      await withJobs(store, ["a", "b"], ["x", "y"]);
      const { claimed, nextDueAt } = await claim(store, { route: "x" });
      assert.deepEqual(
        claimed.map(({ eventId, route }) => [eventId, route]),
        [
          ["a", "x"],
          ["b", "x"],
        ],
      );
      assert.equal(nextDueAt, NOW + 30_000);
      assert.equal((await claim(store, { route: "y" })).claimed.length, 2);
      assert.equal((await claim(store, { route: "z" })).nextDueAt, null);
    });

    test("an event is queued while one job is, then failed if one has failed, else processed", async (t) => {
      for (const [first, second, status, counts] of [
        [DONE, DONE, "processed", [0, 1, 0]],
        [DONE, FAILED, "failed", [0, 0, 1]],
        [FAILED, DONE, "failed", [0, 0, 1]],
        [FAILED, FAILED, "failed", [0, 0, 1]],
      ] as const) {
        const store = await open(t);
        await withJobs(store, ["e-1"], ["x", "y"]);
        await settle(store, await claimOf1(store, "x"), first);
        assert.deepEqual([(await store.get("e-1"))[0]?.status, await countsOf(store)], ["queued", [1, 0, 0]]);
        await settle(store, await claimOf1(store, "y"), second);
        assert.deepEqual([(await store.get("e-1"))[0]?.status, await countsOf(store)], [status, counts]);
        const lists = await Promise.all(
          (["queued", "processed", "failed"] as const).map(
            async (one) => (await store.list({ status: one, limit: 10 })).items,
          ),
        );
        assert.deepEqual(
          lists.map(({ length }) => length),
          counts,
        );
      }
    });

    test("an event without jobs is unrouted until a forced replay gives it one", async (t) => {
      const store = await open(t);
      await withJobs(store, ["e-1"], []);
      const [event] = await store.get("e-1");
      assert.deepEqual([event?.status, event?.processedAt, event?.attempts], ["unrouted", null, 0]);
      assert.deepEqual(await countsOf(store), [0, 0, 0]);
      assert.equal((await store.list({ status: "unrouted", limit: 10 })).items.length, 1);
      assert.equal((await store.list({ status: "processed", limit: 10 })).items.length, 0);
      await store.reroute({ eventId: "e-1", source: "default" });
      await reroute(store);
      const { queued, processed, unrouted } = await store.backlog();
      assert.deepEqual([queued, processed, unrouted], [1, 0, 0]);
    });

    test("a list shows an event once, with the highest attempt count and the newest error of its jobs", async (t) => {
      const store = await open(t);
      await withJobs(store, ["e-1"], ["x", "y"]);
      await settle(store, await claimOf1(store, "y"), { to: "queued", runAt: NOW }, NOW + 1);
      await settle(store, await claimOf1(store, "y"), FAILED, NOW + 2);
      await settle(store, await claimOf1(store, "x"), FAILED, NOW + 3);
      const [event, ...others] = (await store.list({ status: "failed", limit: 10 })).items;
      assert.deepEqual([event?.attempts, event?.lastError, others], [2, "x failed", []]);
    });

    test("a replay queues the jobs that failed and leaves the others", async (t) => {
      const store = await open(t);
      await withJobs(store, ["e-1"], ["x", "y", "z"]);
      for (const [route, next] of [
        ["x", DONE],
        ["y", FAILED],
        ["z", FAILED],
      ] as const)
        await settle(store, await claimOf1(store, route), next);
      assert.equal((await replayAll(store)).count, 1);
      const [event] = await store.get("e-1");
      assert.deepEqual(
        event?.jobs.map(({ route, status, deadLetter }) => [route, status, deadLetter]),
        [
          ["x", "processed", null],
          ["y", "queued", null],
          ["z", "queued", null],
        ],
      );
      assert.deepEqual(await countsOf(store), [1, 0, 0]);
      await settle(store, await claimOf1(store, "y"), DONE);
      await settle(store, await claimOf1(store, "z"), DONE);
      assert.deepEqual(await countsOf(store), [0, 1, 0]);
    });
  });
}
