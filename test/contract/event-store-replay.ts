import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Next } from "../../src/events/job.ts";
import type { EventStore } from "../../src/events/store.ts";
import { claim, claimOf, claimOne, eventAndJob, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const LATER = NOW + 60_000;

/** Replays of dead letters and of other events. */
export function replayContract(adapter: string, open: OpenEventStore): void {
  const one = (eventId: string, evenIfProcessed = false) => ({ eventId, source: "default", evenIfProcessed });

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
      assert.equal((await store.replay(one("e-1"), LATER)).count, 1);
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
        event?.history?.map(({ attempt, outcome }) => [attempt, outcome]),
        [
          [1, "failed"],
          [2, "lease_expired"],
          [3, "lease_expired"],
        ],
      );
      assert.equal(event?.deadLetter?.failedAt, LATER + 2000);
    });

    test("does not replay a processed event unless forced", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", { to: "processed" });
      assert.equal((await store.replay(one("e-1"), LATER)).count, 0);
      assert.equal((await store.get("e-1"))[0]?.status, "processed");
      assert.equal((await store.replay(one("e-1", true), LATER)).count, 1);
      const event = await eventAndJob(store, "e-1");
      assert.deepEqual([event?.status, event?.processedAt, event?.dueAt], ["queued", null, LATER]);
      assert.equal((await claimOne(store, { now: LATER })).attemptOfBudget, 1);
    });

    test("does not replay a queued or leased event, forced or not", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      assert.equal((await store.replay(one("e-1", true), LATER)).count, 0);
      await claimOne(store);
      assert.equal((await store.replay(one("e-1", true), LATER)).count, 0);
      assert.equal((await eventAndJob(store, "e-1"))?.leased, true);
    });

    test("finds no event with another source or id", async (t) => {
      const store = await open(t);
      await ended(store, "e-1", FAILED);
      assert.equal((await store.replay({ ...one("e-1"), source: "other" }, LATER)).count, 0);
      assert.equal((await store.replay(one("e-2"), LATER)).count, 0);
      assert.equal((await store.backlog()).failed, 1);
    });

    test("of all dead letters replays all of them and nothing else", async (t) => {
      const store = await open(t);
      await ended(store, "a", FAILED);
      await ended(store, "b", { to: "processed" });
      await ended(store, "c", FAILED);
      assert.deepEqual(await store.replay("dead letters", LATER), { count: 2, nextPage: null });
      const counts = await store.backlog();
      assert.deepEqual([counts.queued, counts.processed, counts.failed], [2, 1, 0]);
      assert.deepEqual(await store.replay("dead letters", LATER), { count: 0, nextPage: null });
    });

    test("of many dead letters replays each once, in pages, and none that fails meanwhile", async (t) => {
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

    test("of a conflict queues its bytes as an event of its own, with the secret that verified them", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ secret: "env:NEW" })]);
      await store.append([newEvent({ secret: "env:OLD", payload: Buffer.from("other") })]);
      const conflict = { eventId: "e-1", source: "default", conflict: 1 };
      assert.equal((await store.replay(conflict, LATER)).count, 1);
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
