import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClaimedJob, Next, Settlement } from "../../src/events/job.ts";
import type { EventStore } from "../../src/events/store.ts";
import { claim, claimOf, claimOne, eventAndJob, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const DONE: Next = { to: "processed" };
const LEASE_MS = 30_000;

function settlement(job: ClaimedJob, changes: Partial<Settlement> = {}): Settlement {
  return { ...claimOf(job), next: DONE, startedAt: NOW, finishedAt: NOW + 5, error: null, ...changes };
}

const idsOf = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId).join("");

/** Claims, leases and settlements. */
export function claimContract(adapter: string, open: OpenEventStore): void {
  async function withOne(t: Parameters<OpenEventStore>[0]): Promise<EventStore> {
    const store = await open(t);
    await store.append([newEvent()]);
    return store;
  }

  suite(`event store: ${adapter}: claims`, () => {
    test("an event is claimed with its bytes, and the attempt is counted then", async (t) => {
      const store = await withOne(t);
      const { event, ...job } = await claimOne(store);
      assert.ok(Number.isInteger(event));
      assert.deepEqual(
        { ...job, payload: Buffer.from(job.payload).toString() },
        {
          route: "default",
          source: "default",
          eventId: "e-1",
          type: "push",
          contentType: "application/json",
          payload: '{"a":1}',
          headers: '{"user-agent":"test"}',
          isReplay: false,
          attempt: 1,
          countedAttempt: 1,
          receivedAt: NOW,
          attemptOfBudget: 1,
        },
      );
      const stored = await eventAndJob(store, "e-1");
      assert.deepEqual([stored?.status, stored?.attempts, stored?.leased], ["queued", 1, true]);
      assert.equal(stored?.dueAt, NOW + LEASE_MS);
    });

    test("jobs are claimed oldest due first, up to the limit, and only when due", async (t) => {
      const store = await open(t);
      const at = { a: 30, b: 10, c: 20, d: 1000 };
      const rows = Object.entries(at);
      await store.append(rows.map(([eventId, ms]) => newEvent({ eventId, receivedAt: NOW + ms })));
      assert.equal(idsOf((await claim(store, { limit: 2, now: NOW + 100 })).claimed), "bc");
      assert.equal(idsOf((await claim(store, { limit: 2, now: NOW + 100 })).claimed), "a");
      assert.equal(idsOf((await claim(store, { now: NOW + 100 })).claimed), "");
      assert.equal(idsOf((await claim(store, { now: NOW + 1000 })).claimed), "d");
    });

    test("a claim takes at most 8 MB of payloads, and at least one event", async (t) => {
      const store = await open(t);
      const megabytes = { a: 3, b: 4, c: 2, d: 12, e: 1 };
      for (const [index, [eventId, size]] of Object.entries(megabytes).entries()) {
        await store.append([newEvent({ eventId, receivedAt: NOW + index, payload: Buffer.alloc(size * 1024 * 1024) })]);
      }
      const claims: string[] = [];
      for (let n = 0; n < 5; n++) claims.push(idsOf((await claim(store, { limit: 10, now: NOW + 10 })).claimed));
      assert.deepEqual(claims, ["ab", "c", "d", "e", ""]);
    });

    test("the headers of events count towards the bytes of a claim", async (t) => {
      const store = await open(t);
      const headers = JSON.stringify({ "x-long": "é".repeat(1024 * 1024) });
      for (let n = 0; n < 5; n++) await store.append([newEvent({ eventId: `${n}`, receivedAt: NOW + n, headers })]);
      assert.equal(idsOf((await claim(store, { limit: 10, now: NOW + 10 })).claimed), "012");
    });

    test("parallel workers never get the same event", async (t) => {
      const store = await open(t);
      const ids = Array.from({ length: 40 }, (_, i) => `e-${i}`);
      await store.append(ids.map((eventId) => newEvent({ eventId })));
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, i) => claim(store, { owner: `w-${i}`, limit: 7 })),
      );
      const claimed = claims.flatMap((answer) => answer.claimed.map(({ eventId }) => eventId));
      assert.deepEqual(claimed.sort(), ids.sort());
    });

    test("a job whose lease expired is retried as after a failure, and the attempt is in its history", async (t) => {
      const store = await withOne(t);
      await claimOne(store);
      assert.deepEqual((await claim(store, { owner: "b", now: NOW + LEASE_MS - 1 })).claimed, []);
      const late = { owner: "b", now: NOW + LEASE_MS, retryDelaysMs: [700, 0] };
      const { claimed, expired, nextDueAt } = await claim(store, late);
      assert.deepEqual([claimed, expired, nextDueAt], [[], 1, NOW + LEASE_MS + 700]);
      assert.match((await eventAndJob(store, "e-1"))?.lastError ?? "", /the process ended or hung/);
      const taken = await claimOne(store, { ...late, now: NOW + LEASE_MS + 700 });
      assert.deepEqual([taken.attempt, taken.attemptOfBudget], [2, 2]);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual(
        event?.history?.map(({ attempt, outcome, startedAt, finishedAt }) => [attempt, outcome, startedAt, finishedAt]),
        [[1, "lease_expired", NOW, NOW + LEASE_MS]],
      );
    });

    test("an expired lease is renewed while its owner still holds the event", async (t) => {
      const store = await withOne(t);
      const job = await claimOne(store);
      const late = NOW + 10 * LEASE_MS;
      const held = await claim(store, { now: late, retryDelaysMs: [], inProgress: [job.event] });
      assert.deepEqual([held.claimed, held.expired, held.deadLettered], [[], 0, []]);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.attempts, event?.dueAt, event?.history], [1, late + LEASE_MS, []]);
      assert.deepEqual((await claim(store, { owner: "b", now: late, inProgress: [job.event] })).claimed, []);
      assert.deepEqual(await store.renew([claimOf(job)], LEASE_MS, late), [true]);
    });

    test("an expired lease counts as failed when its owner no longer holds the event", async (t) => {
      const store = await withOne(t);
      const { event } = await claimOne(store);
      const taken = await claimOne(store, { now: NOW + LEASE_MS, inProgress: [event + 1] });
      assert.deepEqual([taken.event, taken.attempt], [event, 2]);
      assert.equal((await claimOne(store, { owner: "b", now: NOW + 2 * LEASE_MS, inProgress: [event] })).attempt, 3);
    });

    test("an expired lease that was the last attempt is dead-lettered, not claimed", async (t) => {
      const store = await withOne(t);
      await claimOne(store, { retryDelaysMs: [0] });
      await claimOne(store, { retryDelaysMs: [0], now: NOW + LEASE_MS });
      const { claimed, expired, deadLettered } = await claim(store, { retryDelaysMs: [0], now: NOW + 2 * LEASE_MS });
      assert.deepEqual([claimed, expired], [[], 0]);
      assert.deepEqual(
        deadLettered.map(({ eventId, route, attempt }) => [eventId, route, attempt]),
        [["e-1", "default", 2]],
      );
      const event = await eventAndJob(store, "e-1");
      assert.equal(event?.status, "failed");
      assert.equal(event?.leased, false);
      assert.equal(event?.deadLetter?.failedAt, NOW + 2 * LEASE_MS);
      assert.match(event?.lastError ?? "", /lease expired/);
      assert.equal(event?.history?.length, 2);
      assert.deepEqual((await claim(store, { now: NOW + 10 * LEASE_MS })).claimed, []);
      assert.equal((await store.backlog()).failed, 1);
    });

    test("a lease can be renewed, also after it has expired if no other worker took the job", async (t) => {
      const store = await withOne(t);
      const held = claimOf(await claimOne(store));
      assert.deepEqual(await store.renew([held], LEASE_MS, NOW + LEASE_MS - 1), [true]);
      assert.deepEqual((await claim(store, { owner: "b", now: NOW + LEASE_MS })).claimed, []);
      assert.deepEqual(await store.renew([held], LEASE_MS, NOW + 3 * LEASE_MS), [true]);
      assert.deepEqual((await claim(store, { owner: "b", now: NOW + 3 * LEASE_MS })).claimed, []);
    });

    test("a released claim is due at once and its attempt is not counted", async (t) => {
      const store = await withOne(t);
      const job = await claimOne(store);
      await store.release([claimOf(job, "b")], NOW + 5);
      assert.deepEqual((await claim(store, { now: NOW + 5 })).claimed, [], "only its owner gives it back");
      await store.release([claimOf(job)], NOW + 5);
      assert.equal((await eventAndJob(store, "e-1"))?.attempts, 0);
      const again = await claimOne(store, { owner: "b", now: NOW + 5 });
      assert.deepEqual([again.attempt, again.attemptOfBudget], [1, 1]);
      assert.deepEqual((await eventAndJob(store, "e-1"))?.history, []);
    });
  });

  suite(`event store: ${adapter}: settlements`, () => {
    test("a success makes the event processed, and records the time and the attempt", async (t) => {
      const store = await withOne(t);
      const answered = settlement(await claimOne(store), { responseStatus: 202 });
      assert.deepEqual(await store.settle([answered]), [true]);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.processedAt, event?.lastError], ["processed", NOW + 5, null]);
      assert.deepEqual([event?.leased, event?.dueAt], [false, null]);
      assert.deepEqual(event?.history, [
        {
          attempt: 1,
          startedAt: NOW,
          finishedAt: NOW + 5,
          outcome: "succeeded",
          error: null,
          response: null,
          responseStatus: 202,
          isProbe: false,
          replay: 0,
          attemptOfBudget: 1,
        },
      ]);
      assert.deepEqual((await claim(store, { now: NOW + 1e9 })).claimed, []);
    });

    test("a retry queues the event until its time, and records the error", async (t) => {
      const store = await withOne(t);
      const next: Next = { to: "queued", runAt: NOW + 1000 };
      assert.deepEqual(await store.settle([settlement(await claimOne(store), { next, error: "no" })]), [true]);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.dueAt, event?.lastError], ["queued", NOW + 1000, "no"]);
      assert.deepEqual((await claim(store, { now: NOW + 999 })).claimed, []);
      assert.equal((await claimOne(store, { now: NOW + 1000 })).attempt, 2);
      assert.equal((await eventAndJob(store, "e-1"))?.history?.length, 1);
    });

    test("a probe is counted apart, and the attempt after it has the same number", async (t) => {
      const store = await withOne(t);
      const again: Next = { to: "queued", runAt: NOW };
      const probe: Next = { ...again, isFree: true, isProbe: true };
      await store.settle([settlement(await claimOne(store), { next: again, error: "no" })]);
      await store.settle([settlement(await claimOne(store), { next: probe, error: "no" })]);
      const job = await claimOne(store);
      assert.deepEqual([job.attempt, job.countedAttempt, job.attemptOfBudget], [3, 2, 2]);
      await store.settle([settlement(job)]);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.attempts, event?.probes, event?.attemptsOfBudget], [2, 1, 2]);
      assert.deepEqual(
        event?.history?.map(({ attempt, isProbe }) => [attempt, isProbe]),
        [
          [1, false],
          [2, true],
          [2, false],
        ],
      );
      assert.equal((await store.list({ limit: 1 })).items[0]?.attempts, 2);
    });

    test("a final failure is a dead letter with its reason", async (t) => {
      const store = await withOne(t);
      const next: Next = { to: "failed", reason: "attempt 1 of 1: no" };
      await store.settle([settlement(await claimOne(store), { next, error: "no", response: "because" })]);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.processedAt, event?.lastError], ["failed", null, "no"]);
      assert.equal(event?.history?.[0]?.response, "because");
      assert.deepEqual(event?.deadLetter, { failedAt: NOW + 5, reason: "attempt 1 of 1: no" });
      assert.deepEqual((await claim(store, { now: NOW + 1e9 })).claimed, []);
    });

    test("a free attempt does not count towards the budget", async (t) => {
      const store = await withOne(t);
      const next: Next = { to: "queued", runAt: NOW, isFree: true };
      await store.settle([settlement(await claimOne(store), { next, error: "the server stopped" })]);
      const again = await claimOne(store);
      assert.deepEqual([again.attempt, again.attemptOfBudget], [2, 1]);
      assert.deepEqual((await claim(store, { retryDelaysMs: [], now: NOW + LEASE_MS })).deadLettered.length, 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.attempts, event?.attemptsOfBudget, event?.replays], [2, 1, 0]);
      assert.deepEqual(
        event?.history?.map(({ attempt, replay, attemptOfBudget }) => [attempt, replay, attemptOfBudget]),
        [
          [1, 0, 1],
          [2, 0, 1],
        ],
      );
    });

    test("a worker that lost its lease cannot settle or renew the event", async (t) => {
      const store = await withOne(t);
      const lost = await claimOne(store);
      const taken = await claimOne(store, { owner: "b", now: NOW + LEASE_MS });
      const before = await store.get("e-1");
      assert.deepEqual(await store.settle([settlement(lost)]), [false]);
      assert.deepEqual(await store.settle([settlement(lost, { next: { to: "failed", reason: "x" } })]), [false]);
      assert.deepEqual(await store.renew([claimOf(lost)], LEASE_MS, NOW), [false]);
      assert.deepEqual(await store.get("e-1"), before);
      assert.deepEqual(await store.settle([settlement(taken, { owner: "b" })]), [true]);
    });

    test("a worker cannot renew another worker's lease, or release an attempt that is not the newest", async (t) => {
      const store = await withOne(t);
      await claimOne(store);
      const job = await claimOne(store, { now: NOW + LEASE_MS });
      const before = await store.get("e-1");
      assert.deepEqual(await store.renew([claimOf(job, "b")], 9 * LEASE_MS, NOW + LEASE_MS), [false]);
      await store.release([{ ...claimOf(job), attempt: 1 }], NOW + LEASE_MS);
      assert.deepEqual(await store.get("e-1"), before);
    });

    test("a worker that claimed the event again cannot settle its own earlier attempt", async (t) => {
      const store = await withOne(t);
      const first = await claimOne(store);
      const second = await claimOne(store, { now: NOW + LEASE_MS });
      assert.deepEqual(await store.settle([settlement(first)]), [false]);
      assert.deepEqual(await store.renew([claimOf(first)], LEASE_MS, NOW), [false]);
      assert.deepEqual(await store.settle([settlement(second)]), [true]);
    });

    test("an attempt is settled once", async (t) => {
      const store = await withOne(t);
      const event = await claimOne(store);
      assert.deepEqual(await store.settle([settlement(event), settlement(event)]), [true, false]);
      assert.deepEqual(await store.settle([settlement(event)]), [false]);
      assert.equal((await eventAndJob(store, "e-1"))?.history?.length, 1);
    });

    test("the results are in the order of the batch, and a lost claim does not affect the others", async (t) => {
      const store = await open(t);
      await store.append(["a", "b", "c"].map((eventId) => newEvent({ eventId })));
      const { claimed } = await claim(store);
      const batch = claimed.map((event, i) => settlement(event, i === 1 ? { owner: "other" } : {}));
      assert.deepEqual(await store.settle(batch), [true, false, true]);
      assert.deepEqual(idsOf((await store.list({ status: "processed", limit: 10 })).items), "ca");
    });
  });
}
