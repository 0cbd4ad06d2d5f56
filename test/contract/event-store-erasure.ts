import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import type { EventStore } from "../../src/events/store.ts";
import { claim, claimOf, claimOne, fanOut, NOW, newEvent } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

const SECRET = "maria@example.com";
const PAYLOAD = Buffer.from(JSON.stringify({ email: SECRET }));
const DIGEST = createHash("sha256").update(PAYLOAD).digest("hex");
const NAME = { eventId: "e-1", source: "default" };
const HOW = { reason: "request 12", now: NOW + 5 };

/** Events whose contents are erased. */
export function erasureContract(adapter: string, open: OpenEventStore): void {
  const add = (store: EventStore, changes = {}) =>
    store.append([newEvent({ payload: PAYLOAD, headers: JSON.stringify({ from: SECRET }), ...changes })]);
  const detail = async (store: EventStore, eventId = "e-1") => {
    const [event] = await store.get(eventId);
    assert.ok(event);
    return event;
  };
  const end = (store: EventStore, job: Awaited<ReturnType<typeof claimOne>>, failed: boolean) =>
    store.settle([
      {
        ...claimOf(job),
        next: failed ? { to: "failed", reason: SECRET } : { to: "processed" },
        startedAt: NOW,
        finishedAt: NOW + 9,
        error: failed ? SECRET : null,
        response: SECRET,
      },
    ]);

  suite(`event store: ${adapter}: erasure`, () => {
    test("leaves the identity and the jobs, and nothing of the content", async (t) => {
      const store = await open(t);
      await add(store);
      await add(store, { payload: Buffer.from(`other ${SECRET}`) });
      await fanOut(store);
      const job = await claimOne(store);
      await store.keepSentBody(job, { payload: PAYLOAD, contentType: SECRET });
      await end(store, job, true);
      const expected = { ...NAME, receivedAt: NOW, payloadSha256: DIGEST, running: 0 };
      assert.deepEqual(await store.erase(NAME, { ...HOW, isDryRun: true }), expected);
      assert.match(JSON.stringify(await detail(store)), new RegExp(SECRET));
      assert.deepEqual(await store.erase(NAME, HOW), expected);

      const { payload, headers, address, contentType, erased, conflicts, status, jobs } = await detail(store);
      assert.deepEqual([payload.length, headers, address, contentType, conflicts], [0, {}, "", "", []]);
      assert.deepEqual(erased, { erasedAt: NOW + 5, reason: "request 12", payloadSha256: DIGEST });
      const { discarded, deadLetter, lastError, history } = jobs[0] ?? {};
      assert.deepEqual([status, deadLetter, lastError], ["discarded", null, "erased"]);
      assert.deepEqual(discarded, { discardedAt: NOW + 5, reason: "erased: request 12" });
      assert.deepEqual([history?.[0]?.error, history?.[0]?.response], ["erased", null]);
      assert.equal(await store.sentBody(job), null);
      assert.deepEqual(await store.history({ after: 0, since: 0, limit: 10 }), []);
      assert.deepEqual((await store.arrivals(0, 10)).items, []);
      assert.deepEqual((await store.list({ search: SECRET, limit: 10 })).items, []);
      const { queued, failed, discarded: givenUp } = await store.backlog();
      assert.deepEqual([queued, failed, givenUp], [0, 0, 1]);
    });

    test("an erased, a removed or an unknown event is not erased again", async (t) => {
      const store = await open(t);
      await add(store);
      await store.erase(NAME, HOW);
      assert.equal(await store.erase(NAME, HOW), null);
      assert.equal(await store.erase(NAME, { ...HOW, isDryRun: true }), null);
      assert.equal(await store.erase({ ...NAME, source: "other" }, HOW), null);
      assert.equal((await detail(store)).erased?.erasedAt, NOW + 5);
    });

    test("a late delivery of it is a duplicate, with the same bytes or others, and is not kept", async (t) => {
      const store = await open(t);
      await add(store);
      await add(store, { eventId: "unsigned", bytesSha256: DIGEST });
      for (const eventId of ["e-1", "unsigned"]) await store.erase({ ...NAME, eventId }, HOW);
      const repeats = [
        { eventId: "e-1" },
        { eventId: "e-1", payload: Buffer.from(`${SECRET} again`) },
        { eventId: "unsigned", bytesSha256: DIGEST },
        { eventId: "made up", bytesSha256: DIGEST },
      ];
      for (const repeat of repeats) assert.equal((await add(store, repeat))[0]?.duplicate, true, repeat.eventId);
      for (const eventId of ["e-1", "unsigned"]) {
        const { conflicts, repeats: kept } = await detail(store, eventId);
        assert.deepEqual([conflicts, kept], [[], []]);
      }
    });

    test("it is not replayed, forced or not", async (t) => {
      const store = await open(t);
      await add(store);
      await fanOut(store);
      await end(store, await claimOne(store), true);
      await store.erase(NAME, HOW);
      assert.equal(await store.replay(NAME, NOW), 0);
      assert.equal((await store.replayAll({ status: "failed" }, NOW, { limit: 10 })).count, 0);
      assert.equal(await store.reroute(NAME), false);
    });

    test("a running attempt goes on, and nothing that it records is kept", async (t) => {
      const store = await open(t);
      await add(store);
      await fanOut(store);
      const job = await claimOne(store);
      assert.equal((await store.erase(NAME, HOW))?.running, 1);
      assert.deepEqual(await store.renew([claimOf(job)], 1000, NOW), [true]);
      await store.keepSentBody(job, { payload: PAYLOAD, contentType: "a/b" });
      assert.equal(await store.sentBody(job), null);
      assert.deepEqual(await end(store, job, false), [true]);
      const { status, jobs } = await detail(store);
      assert.deepEqual([status, jobs[0]?.history[0]?.response], ["processed", null]);
    });

    for (const to of ["failed", "queued"] as const)
      test(`its job is discarded if the running attempt would have been ${to}, and the next of its key is due`, async (t) => {
        const store = await open(t);
        await add(store);
        await add(store, { eventId: "e-2" });
        const pending = await store.pending(10);
        await store.addJobs(
          pending.map(({ id }) => id),
          pending.map(({ id }) => ({ event: id, route: "default", dueAt: NOW, orderingKey: SECRET })),
        );
        const job = await claimOne(store);
        await store.erase(NAME, HOW);
        const next = to === "failed" ? ({ to, reason: SECRET, blocks: true } as const) : { to, runAt: NOW };
        const ended = { next, startedAt: NOW, finishedAt: NOW + 9, error: SECRET, response: SECRET };
        assert.deepEqual(await store.settle([{ ...claimOf(job), ...ended }]), [true]);
        const event = await detail(store);
        assert.equal(event.jobs[0]?.discarded?.reason, "erased: request 12");
        assert.doesNotMatch(JSON.stringify(event), new RegExp(SECRET));
        assert.equal((await claimOne(store, { now: NOW + 10 })).eventId, "e-2");
      });

    test("a job that is made or released after the erasure is discarded when it is due", async (t) => {
      const store = await open(t);
      await add(store);
      await fanOut(store);
      const released = await claimOne(store);
      await store.erase(NAME, HOW);
      await store.release([claimOf(released)], NOW);
      await add(store, { eventId: "e-2" });
      await store.erase({ ...NAME, eventId: "e-2" }, HOW);
      await fanOut(store);
      await add(store, { eventId: "e-3" });
      const { claimed } = await claim(store, { now: NOW + 10 });
      assert.deepEqual(
        claimed.map(({ eventId }) => eventId),
        ["e-3"],
      );
      for (const eventId of ["e-1", "e-2"]) {
        const { status, jobs } = await detail(store, eventId);
        assert.deepEqual([status, jobs[0]?.attempts, jobs[0]?.leased], ["discarded", 0, false]);
      }
      const { queued, discarded } = await store.backlog();
      assert.deepEqual([queued, discarded], [1, 2]);
    });

    test("the lease of a dead process ends without a trace", async (t) => {
      const store = await open(t);
      await add(store);
      await fanOut(store);
      await claimOne(store);
      await store.erase(NAME, HOW);
      await claim(store, { owner: "b", now: NOW + 60_000 });
      assert.equal((await detail(store)).status, "discarded");
    });

    test("retention removes it as any other event, and the note of the erasure with it", async (t) => {
      const store = await open(t);
      await add(store);
      await add(store, { eventId: "e-2" });
      await fanOut(store);
      await store.erase(NAME, HOW);
      const keep = { forMs: 0, count: Infinity, bytes: Infinity };
      const retention = { processed: keep, failed: keep, idsMs: 1e12, maxBytes: Infinity };
      await store.purge({ retention, now: NOW + 1e6, limit: 10 });
      assert.deepEqual(await store.get("e-1"), []);
      assert.equal((await add(store))[0]?.duplicate, true);
    });
  });
}
