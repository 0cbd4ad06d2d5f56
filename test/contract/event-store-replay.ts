import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Next } from "../../src/events/job.ts";
import type { EventStore } from "../../src/events/store.ts";
import { claim, claimOf, claimOne, eventAndJob, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const LATER = NOW + 60_000;

/** Taking events out of the dead-letter table, and processing them again. */
export function replayContract(adapter: string, open: OpenEventStore): void {
  const one = (eventId: string, evenIfProcessed = false) => ({ eventId, source: "default", evenIfProcessed });

  /** Appends an event and takes it to this end. */
  async function ended(store: EventStore, eventId: string, next: Next): Promise<void> {
    await store.append([newEvent({ eventId })]);
    const claimed = claimOf(await claimOne(store));
    const error = next.to === "processed" ? null : "no";
    await store.settle([{ ...claimed, next, startedAt: NOW, finishedAt: NOW, error }]);
  }
  const FAILED: Next = { to: "failed", reason: "no" };

  /** Appends events, and has these and all that are due fail. Returns the ids of those that did. */
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
      assert.equal((await store.replay(one("e-1"), LATER)).count, 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.dueAt, event?.deadLetter], ["queued", LATER, null]);
      assert.deepEqual([event?.attempts, event?.history?.length], [1, 1]);
      assert.equal((await store.backlog()).failed, 0);
      const claimed = await claimOne(store, { now: LATER });
      assert.deepEqual([claimed.attempt, claimed.attemptOfBudget], [2, 1]);
    });

    test("gives an event whose process dies again its whole budget before it is buried again", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      await store.replay(one("e-1"), LATER);
      const crash = (round: number) => ({ retryDelaysMs: [0], leaseMs: 1000, now: LATER + round * 1000 });
      await claimOne(store, crash(0));
      await claimOne(store, crash(1));
      assert.equal((await claim(store, crash(2))).buried.length, 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual(
        event?.history?.map(({ attempt, outcome }) => [attempt, outcome]),
        [
          [1, "failed"],
          [2, "lease_expired"],
          [3, "lease_expired"],
        ],
      );
      assert.equal(event?.deadLetter?.failedAt, LATER + 2000);
    });

    test("leaves what was processed alone unless forced", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", { to: "processed" });
      assert.equal((await store.replay(one("e-1"), LATER)).count, 0);
      assert.equal((await store.get("e-1"))[0]?.status, "processed");
      assert.equal((await store.replay(one("e-1", true), LATER)).count, 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.processedAt, event?.dueAt], ["queued", null, LATER]);
      assert.equal((await claimOne(store, { now: LATER })).attemptOfBudget, 1);
    });

    test("leaves what is queued or in work alone, forced or not", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      assert.equal((await store.replay(one("e-1", true), LATER)).count, 0);
      await claimOne(store);
      assert.equal((await store.replay(one("e-1", true), LATER)).count, 0);
      assert.equal((await eventAndJob(store, "e-1"))?.leased, true);
    });

    test("knows no event of another source or id", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      assert.equal((await store.replay({ ...one("e-1"), source: "other" }, LATER)).count, 0);
      assert.equal((await store.replay(one("e-2"), LATER)).count, 0);
      assert.equal((await store.backlog()).failed, 1);
    });

    test("of all dead letters takes all of them and nothing else", async (t) => {
      const store = await open(t);
      await ended(store, "a", FAILED);
      await ended(store, "b", { to: "processed" });
      await ended(store, "c", FAILED);
      assert.deepEqual(await store.replay("dead letters", LATER), { count: 2, nextPage: null });
      const counts = await store.backlog();
      assert.deepEqual([counts.queued, counts.processed, counts.failed], [2, 1, 0]);
      assert.deepEqual(await store.replay("dead letters", LATER), { count: 0, nextPage: null });
    });

    test("of many dead letters takes each once, page by page, and none that fails meanwhile", async (t) => {
      const store = await open(t);
      const ids = Array.from({ length: 2500 }, (_, n) => `e-${n}`);
      await fail(store, ids, NOW);
      const failedAgain: string[] = [];
      let total = 0;
      for (let page: string | null | undefined; page !== null; ) {
        const { count, nextPage } = await store.replay("dead letters", LATER, page);
        assert.ok(count < ids.length / 2);
        total += count;
        page = nextPage;
        failedAgain.push(...(await fail(store, [`new-${total}`], LATER)));
      }
      assert.equal(total, ids.length);
      assert.deepEqual(
        failedAgain.filter((eventId) => !eventId.startsWith("new-")),
        ids,
      );
      assert.equal((await store.backlog()).failed, failedAgain.length);
    });

    test("does not let the worker of the attempt before it settle", async (t) => {
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
