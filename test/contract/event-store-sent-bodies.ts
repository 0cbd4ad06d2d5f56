import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EventStore, HistoryRequest, SentBody } from "../../src/events/store.ts";
import { claimOf, claimOne, fanOut, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const body = (text: string): SentBody => ({ payload: Buffer.from(text), contentType: "text/plain" });
const textOf = (kept: SentBody | null) => kept && `${kept.contentType} ${Buffer.from(kept.payload)}`;

/** What is sent for jobs instead of the payloads. */
export function sentBodyContract(adapter: string, open: OpenEventStore): void {
  /** A job that has failed for good, whose body is kept. */
  async function deadLetter(store: EventStore) {
    await store.append([newEvent()]);
    await fanOut(store);
    const job = await claimOne(store);
    await store.keepSentBody(job, body("first"));
    const next = { to: "failed", reason: "no" } as const;
    await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
    return job;
  }

  const NAME = { eventId: newEvent().eventId, source: newEvent().source };

  suite(`event store: ${adapter}: sent bodies`, () => {
    test("the first body of a job is kept, and whoever brings another one gets it", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await fanOut(store);
      const job = await claimOne(store);
      assert.equal(await store.sentBody(job), null);
      assert.equal(textOf(await store.keepSentBody(job, body("first"))), "text/plain first");
      assert.equal(textOf(await store.keepSentBody(job, body("second"))), "text/plain first");
      assert.equal(textOf(await store.sentBody(job)), "text/plain first");
      assert.equal(await store.sentBody({ ...job, route: "other" }), null);
    });

    test("history has each event with what its jobs have sent, oldest first", async (t) => {
      const store = await open(t);
      await deadLetter(store);
      await store.append([newEvent({ eventId: "e-2", payload: Buffer.from("2"), receivedAt: NOW + 60_000 })]);
      const read = async (request: Partial<HistoryRequest> = {}) =>
        (await store.history({ after: 0, since: 0, limit: 10, ...request })).map(({ eventId, jobs }) => ({
          eventId,
          jobs: jobs.map(({ route, attempts, body: sent }) => [route, attempts, textOf(sent)]),
        }));
      const first = { eventId: NAME.eventId, jobs: [["default", 1, "text/plain first"]] };
      assert.deepEqual(await read(), [first, { eventId: "e-2", jobs: [] }]);
      assert.deepEqual(await read({ limit: 1 }), [first]);
      assert.deepEqual(await read({ name: NAME }), [first]);
      assert.deepEqual(await read({ since: NOW + 1 }), [{ eventId: "e-2", jobs: [] }]);
      const [one] = await store.history({ after: 0, since: 0, limit: 1 });
      assert.deepEqual(await read({ after: one?.id ?? 0, name: NAME }), []);
      assert.equal(Buffer.from(one?.payload ?? "").toString(), Buffer.from(newEvent().payload).toString());
    });

    test("a replay keeps it, unless it is told to forget it", async (t) => {
      const store = await open(t);
      const job = await deadLetter(store);
      await store.replay(NAME, NOW);
      assert.equal(textOf(await store.sentBody(job)), "text/plain first");
      const again = await claimOne(store);
      const next = { to: "failed", reason: "no" } as const;
      await store.settle([{ ...claimOf(again), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      await store.replayAll({ status: "failed" }, NOW, { limit: 10 }, true);
      assert.equal(await store.sentBody(job), null);
    });

    test("those of ended jobs can be forgotten, and those of queued ones not", async (t) => {
      const store = await open(t);
      const job = await deadLetter(store);
      await store.replay(NAME, NOW);
      await store.forgetSentBodies(NAME);
      assert.equal(textOf(await store.sentBody(job)), "text/plain first");
      const again = await claimOne(store);
      await store.settle([
        { ...claimOf(again), next: { to: "processed" }, startedAt: NOW, finishedAt: NOW, error: null },
      ]);
      await store.forgetSentBodies(NAME);
      assert.equal(await store.sentBody(job), null);
    });
  });
}
