import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { NOTED_FOR_MS } from "../../src/events/unavailable.ts";
import { claim, claimOf, claimOne, fanOut, NOW, newEvent, numbersOf, replayAll } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

/** The state of routes, and the payloads that routing reads. */
export function routeContract(adapter: string, open: OpenEventStore): void {
  async function settle(store: EventStore, to: "processed" | "failed"): Promise<void> {
    const job = await claimOne(store, { limit: 1 });
    const next = to === "failed" ? { to, reason: "no" } : { to };
    const error = to === "failed" ? "no" : null;
    await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error }]);
  }

  suite(`event store: ${adapter}: routes`, () => {
    test("a route has the number of its jobs in each status", async (t) => {
      const store = await open(t);
      await store.append(["a", "b", "c", "d"].map((eventId) => newEvent({ eventId })));
      await fanOut(store);
      await settle(store, "processed");
      await settle(store, "failed");
      const record = {
        route: "default",
        queued: 2,
        processed: 1,
        failed: 1,
        discarded: 0,
        pausedAt: null,
        pausedUntil: null,
      };
      assert.deepEqual(await store.routes(NOW), [record]);
      await replayAll(store);
      assert.deepEqual(await store.routes(NOW), [{ ...record, queued: 3, failed: 0 }]);
    });

    test("an event without jobs is counted as unrouted", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await store.addJobs(numbersOf(await store.pending(1)), []);
      const { unrouted, processed } = await store.backlog();
      assert.deepEqual([unrouted, processed], [1, 0]);
    });

    test("a paused route has no due job until it is resumed", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      assert.deepEqual(
        [await store.pauseRoute("default", NOW), await store.pauseRoute("default", NOW + 1)],
        [true, false],
      );
      const { claimed, nextDueAt } = await claim(store);
      assert.deepEqual([claimed, nextDueAt], [[], null]);
      assert.equal((await store.routes(NOW))[0]?.pausedAt, NOW);
      assert.deepEqual(
        [await store.resumeRoute("default", NOW), await store.resumeRoute("default", NOW)],
        [true, false],
      );
      assert.equal((await claim(store)).claimed.length, 1);
    });

    test("a pause with an end is over at its end, and a new one may follow", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await fanOut(store);
      assert.equal(await store.pauseRoute("default", NOW, NOW + 5000), true);
      const pausesAt = async (now: number) =>
        (await store.routes(now)).map(({ pausedAt, pausedUntil }) => [pausedAt, pausedUntil]);
      assert.deepEqual(await pausesAt(NOW + 4999), [[NOW, NOW + 5000]]);
      assert.deepEqual(await pausesAt(NOW + 5000), [[null, null]]);
      const { claimed, nextDueAt } = await claim(store, { now: NOW + 4999 });
      assert.deepEqual([claimed, nextDueAt], [[], NOW + 5000]);
      assert.equal(await store.resumeRoute("default", NOW + 5000), false);
      assert.equal(await store.pauseRoute("default", NOW + 5000, NOW + 9000), true);
      assert.deepEqual(await pausesAt(NOW + 8999), [[NOW + 5000, NOW + 9000]]);
      assert.equal((await claim(store, { now: NOW + 8999 })).claimed.length, 0);
      assert.equal((await claim(store, { now: NOW + 9000 })).claimed.length, 1);
    });

    test("a pause that lasts gets the end of a later one, and keeps its beginning", async (t) => {
      const store = await open(t);
      const pauseAt = (now: number, until?: number) => store.pauseRoute("default", now, until);
      assert.deepEqual(
        [await pauseAt(NOW), await pauseAt(NOW + 1, NOW + 9), await pauseAt(NOW + 2, NOW + 9)],
        [true, true, false],
      );
      const pause = async () =>
        (await store.routes(NOW + 3)).map(({ pausedAt, pausedUntil }) => [pausedAt, pausedUntil]);
      assert.deepEqual(await pause(), [[NOW, NOW + 9]]);
      assert.equal(await pauseAt(NOW + 3), true);
      assert.deepEqual(await pause(), [[NOW, null]]);
    });

    test("a route can be paused before it has jobs", async (t) => {
      const store = await open(t);
      await store.pauseRoute("later", NOW);
      assert.deepEqual(await store.routes(NOW), [
        { route: "later", queued: 0, processed: 0, failed: 0, discarded: 0, pausedAt: NOW, pausedUntil: null },
      ]);
    });

    test("an event tells since when its route is paused", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      await fanOut(store);
      await store.pauseRoute("default", NOW);
      assert.equal((await store.get("e-1"))[0]?.jobs[0]?.pausedAt, NOW);
      await store.pauseRoute("default", NOW, NOW + 5000);
      assert.equal((await store.get("e-1"))[0]?.jobs[0]?.pausedUntil, NOW + 5000);
    });

    test("an event tells which earlier event of its key it waits for", async (t) => {
      const store = await open(t);
      await store.append(["a", "b", "c"].map((eventId) => newEvent({ eventId })));
      const events = numbersOf(await store.pending(3));
      await store.addJobs(
        events,
        events.map((event) => ({ event, route: "default", dueAt: NOW, orderingKey: "cus_1" })),
      );
      const earlierOf = async (eventId: string) => (await store.get(eventId))[0]?.jobs[0]?.earlier;
      assert.equal(await earlierOf("a"), null);
      const first = { source: "default", eventId: "a", status: "queued" };
      assert.deepEqual([await earlierOf("b"), await earlierOf("c")], [first, first]);
      const next = { to: "failed", reason: "no", blocks: true } as const;
      const job = await claimOne(store, { limit: 1 });
      await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      assert.deepEqual(await earlierOf("c"), { ...first, status: "failed" });
    });

    test("a route is unavailable while a worker notes it, from the first note of them on", async (t) => {
      const store = await open(t);
      const noted = { route: "default", since: NOW - 10, probeAt: NOW + 1000 };
      await store.noteUnavailable("one", [noted], NOW);
      await store.noteUnavailable("two", [{ ...noted, since: NOW, probeAt: null }], NOW + 1);
      assert.deepEqual(await store.unavailableRoutes(NOW + 2), [noted]);
      await store.noteUnavailable("one", [], NOW + 3);
      assert.deepEqual(await store.unavailableRoutes(NOW + 3), [{ ...noted, since: NOW, probeAt: null }]);
    });

    test("a note of a worker that has ended says nothing", async (t) => {
      const store = await open(t);
      await store.noteUnavailable("one", [{ route: "default", since: NOW, probeAt: NOW }], NOW);
      assert.deepEqual(await store.unavailableRoutes(NOW + NOTED_FOR_MS + 1), []);
      assert.equal(await store.tryRoute("default", NOW + NOTED_FOR_MS + 1), false);
    });

    test("a probe is asked of every worker that notes the route, and the next note keeps the question", async (t) => {
      const store = await open(t);
      const noted = [{ route: "default", since: NOW, probeAt: NOW + 1000 }];
      assert.equal(await store.tryRoute("default", NOW), false);
      await store.noteUnavailable("one", noted, NOW);
      assert.deepEqual(await store.askedProbes("one"), []);
      const work: string[] = [];
      store.onWork((what) => work.push(what));
      assert.equal(await store.tryRoute("default", NOW + 1), true);
      await store.noteUnavailable("one", noted, NOW + 2);
      assert.deepEqual(await store.askedProbes("one"), [{ route: "default", askedAt: NOW + 1 }]);
      assert.deepEqual([await store.askedProbes("two"), work], [[], ["jobs"]]);
    });

    test("a probe does not wait for the next attempt of an event", async (t) => {
      const store = await open(t);
      await store.append(["a", "b"].map((eventId) => newEvent({ eventId })));
      const next = { to: "queued", runAt: NOW + 1e9 } as const;
      for (const job of (await claim(store)).claimed)
        await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      await store.noteUnavailable("one", [{ route: "default", since: NOW, probeAt: NOW }], NOW);
      for (let n = 0; n < 2; n++) assert.equal(await store.tryRoute("default", NOW + 1), true);
      assert.equal((await claim(store, { now: NOW + 1 })).claimed.length, 1);
    });

    test("a resumed route wakes the worker", async (t) => {
      const store = await open(t);
      const work: string[] = [];
      store.onWork((what) => work.push(what));
      await store.pauseRoute("default", NOW);
      await store.resumeRoute("default", NOW);
      assert.deepEqual(work, ["jobs"]);
    });

    test("payloads are read in order, at most 8 MB at once, and at least one", async (t) => {
      const store = await open(t);
      const sizes = [3, 4, 2, 9].map((megabytes) => megabytes * 1024 * 1024);
      await store.append(sizes.map((size, at) => newEvent({ eventId: `e-${at}`, payload: Buffer.alloc(size, at) })));
      const ids = (await store.pending(10)).map(({ id }) => id);
      const read = async (from: number) => (await store.payloads(ids.slice(from))).map((read) => read?.payload.length);
      assert.deepEqual(await read(0), sizes.slice(0, 2));
      assert.deepEqual(await read(2), sizes.slice(2, 3));
      assert.deepEqual(await read(3), sizes.slice(3));
      const [first] = await store.payloads(ids.slice(2));
      assert.equal(first?.contentType, "application/json");
      assert.deepEqual(JSON.parse(first?.headers ?? ""), JSON.parse(newEvent().headers));
    });
  });
}
