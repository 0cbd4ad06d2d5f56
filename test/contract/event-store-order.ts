import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClaimedJob, Next } from "../../src/events/job.ts";
import type { ClaimRequest, EventStore } from "../../src/events/store.ts";
import { claim, claimOf, eventAndJob, NOW, newEvent, numbersOf } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const DONE: Next = { to: "processed" };
const SKIPPED: Next = { to: "failed", reason: "no" };
const BLOCKING: Next = { to: "failed", reason: "no", blocks: true };

/** Jobs of one ordering key run one at a time, in order of arrival. */
export function orderContract(adapter: string, open: OpenEventStore): void {
  /** Stores events and adds an ordered job for each: the key is the first letter of the id. */
  async function add(store: EventStore, ...eventIds: string[]): Promise<void> {
    await store.append(eventIds.map((eventId) => newEvent({ eventId })));
    const events = await store.pending(1000);
    const jobs = events.map(({ id }, at) => ({
      event: id,
      route: "default",
      dueAt: NOW,
      orderingKey: eventIds[at]?.[0] ?? null,
    }));
    await store.addJobs(numbersOf(events), jobs);
  }

  const claimAll = async (store: EventStore, changes: Partial<ClaimRequest> = {}) =>
    (await claim(store, changes)).claimed;
  const idsOf = (jobs: readonly ClaimedJob[]) => jobs.map(({ eventId }) => eventId).sort();

  async function settle(store: EventStore, job: ClaimedJob | undefined, next: Next): Promise<void> {
    assert.ok(job);
    const error = next.to === "processed" ? null : "no";
    assert.deepEqual(await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error }]), [true]);
  }

  /** Claims the only due job and settles it. */
  async function run(store: EventStore, eventId: string, next: Next, changes: Partial<ClaimRequest> = {}) {
    const claimed = await claimAll(store, changes);
    assert.deepEqual(idsOf(claimed), [eventId]);
    await settle(store, claimed[0], next);
  }

  const replay = (store: EventStore, eventId: string) => store.replay({ eventId, source: "default" }, NOW);

  suite(`event store: ${adapter}: order per key`, () => {
    test("one job of each key is due, and the next when it is processed", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2", "b1", "b2");
      const claimed = await claimAll(store);
      assert.deepEqual(idsOf(claimed), ["a1", "b1"]);
      assert.deepEqual(await claimAll(store), []);
      await settle(store, claimed[0], DONE);
      await run(store, "a2", DONE);
      await add(store, "a3", "b3");
      await run(store, "a3", DONE);
      const waiting = await eventAndJob(store, "b2");
      assert.deepEqual([waiting?.status, waiting?.dueAt, waiting?.orderingKey], ["queued", null, "b"]);
    });

    test("a job that is retried keeps the later ones of its key waiting", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2");
      await run(store, "a1", { to: "queued", runAt: NOW + 1000 });
      assert.deepEqual(await claimAll(store), []);
      await run(store, "a1", DONE, { now: NOW + 1000 });
      await run(store, "a2", DONE);
    });

    test("the order is that of each route", async (t) => {
      const store = await open(t);
      await store.append([newEvent({ eventId: "a1" }), newEvent({ eventId: "a2" })]);
      const events = await store.pending(10);
      const jobs = events.flatMap(({ id }) =>
        ["x", "y"].map((route) => ({ event: id, route, dueAt: NOW, orderingKey: "a" })),
      );
      await store.addJobs(numbersOf(events), jobs);
      const [job] = await claimAll(store, { route: "x" });
      await settle(store, job, DONE);
      assert.deepEqual(idsOf(await claimAll(store, { route: "x" })), ["a2"]);
      assert.deepEqual(idsOf(await claimAll(store, { route: "y" })), ["a1"]);
    });

    test("a dead letter that does not block lets the next job run", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2");
      await run(store, "a1", SKIPPED);
      await run(store, "a2", DONE);
    });

    test("a dead letter that blocks keeps the later jobs waiting until it is replayed", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2", "b1");
      const claimed = await claimAll(store);
      await settle(
        store,
        claimed.find(({ eventId }) => eventId === "a1"),
        BLOCKING,
      );
      await add(store, "a3");
      assert.deepEqual(await claimAll(store), []);
      await replay(store, "a1");
      await run(store, "a1", DONE);
      await run(store, "a2", DONE);
      await run(store, "a3", DONE);
    });

    test("a lease that expires at the last attempt blocks as the route says", async (t) => {
      for (const blocks of [true, false]) {
        const store = await open(t);
        await add(store, "a1", "a2");
        await claimAll(store);
        const late = { now: NOW + 60_000, retryDelaysMs: [], blocks };
        assert.equal((await claim(store, late)).deadLettered.length, 1);
        assert.deepEqual(idsOf(await claimAll(store, late)), blocks ? [] : ["a2"]);
      }
    });

    test("a replayed job waits while another job of its key has its turn, and then precedes the later ones", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2", "a3");
      await run(store, "a1", SKIPPED);
      const [second] = await claimAll(store);
      await replay(store, "a1");
      assert.deepEqual(await claimAll(store), []);
      await settle(store, second, DONE);
      await run(store, "a1", DONE);
      await run(store, "a3", DONE);
    });

    test("a released job keeps its turn", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2");
      const [job] = await claimAll(store);
      await store.release([claimOf(job as ClaimedJob)], NOW);
      await run(store, "a1", DONE);
    });

    test("a route that no longer blocks goes on with each key", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2", "b1", "b2");
      for (const job of await claimAll(store)) await settle(store, job, BLOCKING);
      await store.unblockRoute("other", NOW);
      assert.deepEqual(await claimAll(store), []);
      await store.unblockRoute("default", NOW);
      assert.deepEqual(idsOf(await claimAll(store)), ["a2", "b2"]);
    });

    test("jobs without a key run beside ordered ones", async (t) => {
      const store = await open(t);
      await add(store, "a1", "a2");
      await store.append([newEvent({ eventId: "free" })]);
      assert.deepEqual(idsOf(await claimAll(store)), ["a1", "free"]);
    });
  });
}
