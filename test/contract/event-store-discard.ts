import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { ClaimedJob } from "../../src/events/job.ts";
import type { EventStore, JobFilter } from "../../src/events/store.ts";
import { claim, claimOf, NOW, newEvent, numbersOf, replayAll, reroute } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

/** Jobs that an operator gives up. */
export function discardContract(adapter: string, open: OpenEventStore): void {
  const name = (eventId: string) => ({ eventId, source: "default" });

  /** Stores events with a job for each of these routes, all with one ordering key. */
  async function add(store: EventStore, eventIds: string[], routes = ["default"]): Promise<void> {
    await store.append(eventIds.map((eventId) => newEvent({ eventId })));
    const events = await store.pending(100);
    const jobs = events.flatMap(({ id }) =>
      routes.map((route) => ({ event: id, route, dueAt: NOW, orderingKey: "key" })),
    );
    await store.addJobs(numbersOf(events), jobs);
  }

  async function claimOne(store: EventStore, route = "default"): Promise<ClaimedJob> {
    const { claimed } = await claim(store, { route });
    assert.equal(claimed.length, 1);
    return claimed[0] as ClaimedJob;
  }

  async function fail(store: EventStore, job: ClaimedJob): Promise<void> {
    const next = { to: "failed", reason: "no", blocks: true } as const;
    await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
  }

  suite(`event store: ${adapter}: discards`, () => {
    test("a discarded dead letter is gone, its reason is kept, and the next job of its key is due", async (t) => {
      const store = await open(t);
      await add(store, ["a", "b"]);
      await fail(store, await claimOne(store));
      assert.equal(await store.discard(name("a"), "refunded", NOW + 1), 1);
      const [event] = await store.get("a");
      const [job] = event?.jobs ?? [];
      assert.deepEqual([event?.status, job?.status, job?.deadLetter], ["discarded", "discarded", null]);
      assert.deepEqual(job?.discarded, { discardedAt: NOW + 1, reason: "refunded" });
      assert.deepEqual([job?.history.length, job?.lastError], [1, "no"]);
      assert.equal((await claim(store, { now: NOW + 1 })).claimed[0]?.eventId, "b");
      const { queued, processed, failed, discarded } = await store.backlog();
      assert.deepEqual([queued, processed, failed, discarded], [1, 0, 0, 1]);
      for (const [status, ids] of [
        ["discarded", ["a"]],
        ["processed", []],
      ] as const) {
        const { items } = await store.list({ status, limit: 10 });
        assert.deepEqual(
          items.map(({ eventId }) => eventId),
          ids,
        );
      }
      const [route] = await store.routes(NOW);
      assert.deepEqual([route?.queued, route?.processed, route?.failed, route?.discarded], [1, 0, 0, 1]);
    });

    test("a job that waits is discarded, and one that runs is not", async (t) => {
      const store = await open(t);
      await add(store, ["a"], ["x", "y"]);
      const running = await claimOne(store, "x");
      assert.equal(await store.discard(name("a"), "no", NOW), 1);
      assert.deepEqual((await claim(store, { route: "y", now: NOW + 1e9 })).claimed, []);
      assert.equal((await store.get("a"))[0]?.status, "queued");
      const ended = { next: { to: "processed" as const }, startedAt: NOW, finishedAt: NOW, error: null };
      assert.deepEqual(await store.settle([{ ...claimOf(running), ...ended }]), [true]);
      assert.equal((await store.get("a"))[0]?.status, "discarded");
    });

    test("a discarded job is replayed only if forced", async (t) => {
      const store = await open(t);
      await add(store, ["a"]);
      await fail(store, await claimOne(store));
      await store.discard(name("a"), "no", NOW);
      assert.equal(await store.replay(name("a"), NOW), 0);
      assert.equal((await replayAll(store)).count, 0);
      assert.equal(await store.reroute(name("a")), true);
      await reroute(store);
      assert.equal((await claimOne(store)).isReplay, true);
      const { queued, discarded } = await store.backlog();
      assert.deepEqual([queued, discarded], [1, 0]);
    });

    test("many are discarded by a filter, page by page, and what waits only if that is asked for", async (t) => {
      const store = await open(t);
      await add(store, ["a", "b", "c"], ["x"]);
      for (let n = 0; n < 2; n++) {
        const next = { to: "failed", reason: "no" } as const;
        const job = await claimOne(store, "x");
        await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: "no" }]);
      }
      const discarded = async (filter: JobFilter) => {
        const ids: number[] = [];
        for (let cursor: string | undefined | null; cursor !== null; ) {
          const page = await store.discardAll(filter, "old", NOW, { limit: 1, cursor });
          ids.push(page.count);
          cursor = page.next;
        }
        return ids;
      };
      assert.deepEqual(await discarded({ status: "failed", route: "y" }), [0]);
      assert.deepEqual(await discarded({ status: "failed", route: "x" }), [1, 1]);
      assert.deepEqual(await discarded({ status: "queued", route: "x" }), [1]);
      const { queued, processed, failed, discarded: givenUp } = await store.backlog();
      assert.deepEqual([queued, processed, failed, givenUp], [0, 0, 0, 3]);
    });

    test("by a filter with U+0000 nothing is discarded, and a reason may have it", async (t) => {
      const store = await open(t);
      await add(store, ["a"]);
      await fail(store, await claimOne(store));
      for (const member of ["type", "source", "route", "error"] as const) {
        const filter = { status: "failed", [member]: "x\0" } as const;
        const page = await store.discardAll(filter, "old", NOW, { limit: 10 });
        assert.deepEqual([page.count, page.next], [0, null], member);
      }
      assert.equal(await store.discard(name("a"), "re\0funded", NOW), 1);
      assert.match(String((await store.get("a"))[0]?.jobs[0]?.discarded?.reason), /^re.funded$/);
    });

    test("there is nothing to discard of an unknown or a processed event", async (t) => {
      const store = await open(t);
      await add(store, ["a"]);
      const job = await claimOne(store);
      const ended = { next: { to: "processed" as const }, startedAt: NOW, finishedAt: NOW, error: null };
      await store.settle([{ ...claimOf(job), ...ended }]);
      assert.deepEqual([await store.discard(name("a"), "no", NOW), await store.discard(name("b"), "no", NOW)], [0, 0]);
    });
  });
}
