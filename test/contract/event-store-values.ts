import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { suite, test } from "node:test";
import { claim, claimOf, fanOut, NOW, newEvent, numbersOf } from "../helpers/events.ts";
import type { OpenEventStore } from "./event-store.ts";

/** Names in the order of their bytes in UTF-8, which is not that of their UTF-16. */
const NAMES = ["Z", "a", "z", "É", "é", "\uff5e", "😀"];
const shuffled = [4, 0, 6, 2, 5, 1, 3].map((place) => NAMES[place] as string);

/** The largest time of a `Date`, and one before 1970. */
const FAR = 8.64e15;
const EARLY = -86_400_001;

const idsOf = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId);

/** What holds for texts of any script, for large and negative numbers, and for equal times. */
export function valueContract(adapter: string, open: OpenEventStore): void {
  suite(`event store: ${adapter}: values`, () => {
    test("names of any script are apart, and in the order of their bytes", async (t) => {
      const store = await open(t);
      await store.append(shuffled.map((source) => newEvent({ source, type: source })));
      const events = await store.pending(10);
      const jobs = events.flatMap(({ id }) =>
        shuffled.map((route) => ({ event: id, route, dueAt: NOW, orderingKey: route })),
      );
      await store.addJobs(numbersOf(events), jobs);
      await store.pauseRoute("ñ", NOW);
      assert.deepEqual(
        (await store.get("e-1")).map(({ source }) => source),
        NAMES,
      );
      assert.deepEqual(
        (await store.get("e-1", "É"))[0]?.jobs.map(({ route }) => route),
        NAMES,
      );
      const routes = (await store.routes(NOW)).map(({ route }) => route);
      assert.deepEqual(routes, [...NAMES.slice(0, 5), "ñ", ...NAMES.slice(5)]);
      for (const name of NAMES) {
        assert.equal((await store.list({ source: name, type: name, limit: 10 })).items.length, 1, name);
        assert.equal((await store.count({ status: "queued", route: name, type: name }, { limit: 10 })).count, 1, name);
        assert.equal((await claim(store, { route: name })).claimed.length, 1, name);
      }
    });

    test("an event that was read from an API is told apart before fan-out", async (t) => {
      const store = await open(t);
      await store.append([newEvent(), newEvent({ eventId: "e-2", secret: "api:api.example" })]);
      const events = await store.pending(10);
      assert.deepEqual(
        events.map(({ isCaptured }) => isCaptured),
        [undefined, true],
      );
      assert.deepEqual(Object.keys(events[0] ?? {}), ["id", "source", "type", "receivedAt"]);
    });

    test("times before 1970, and far ahead, are kept and selected as others are", async (t) => {
      const store = await open(t);
      const times = { early: EARLY, zero: 0, now: NOW, far: FAR };
      await store.append(Object.entries(times).map(([eventId, receivedAt]) => newEvent({ eventId, receivedAt })));
      await fanOut(store);
      for (const [eventId, receivedAt] of Object.entries(times))
        assert.equal((await store.get(eventId))[0]?.receivedAt, receivedAt);
      const found = async (filter: { since?: number; until?: number }) => {
        const ids = idsOf((await store.list({ ...filter, limit: 10 })).items);
        const jobs = await store.jobs({ status: "queued", ...filter }, { limit: 10 });
        assert.deepEqual(idsOf(jobs.items).reverse(), ids);
        return ids.join(" ");
      };
      assert.equal(await found({ since: FAR }), "far");
      assert.equal(await found({ until: 0 }), "early");
      assert.equal(await found({ since: EARLY, until: NOW }), "zero early");
      assert.equal(await found({ since: EARLY + 1 }), "far now zero");
      const { points } = await store.stats({ since: EARLY - 60_000, until: FAR, step: "minute" });
      assert.equal(
        points.reduce((sum, { count }) => sum + count, 0),
        3,
      );
    });

    test("cursors beyond every event are those of the last page", async (t) => {
      const store = await open(t);
      await store.append([newEvent(), newEvent({ eventId: "e-2" })]);
      await fanOut(store);
      const beyond = "999999999999999";
      assert.deepEqual(idsOf((await store.list({ before: beyond, limit: 10 })).items), ["e-2", "e-1"]);
      assert.deepEqual((await store.list({ after: beyond, limit: 10 })).items, []);
      assert.deepEqual((await store.list({ after: beyond, search: "a", limit: 10 })).items, []);
      assert.deepEqual(idsOf((await store.list({ before: beyond, search: "a", limit: 10 })).items), ["e-2", "e-1"]);
      const queued = { status: "queued" } as const;
      assert.equal((await store.count(queued, { cursor: `0-${beyond}`, limit: 10 })).count, 2);
      assert.deepEqual(await store.count(queued, { cursor: `${beyond}-${beyond}`, limit: 10 }), {
        count: 0,
        next: null,
      });
    });

    test("the largest safe numbers are exact", async (t) => {
      const store = await open(t);
      const most = Number.MAX_SAFE_INTEGER;
      await store.append([newEvent({ bytesSha256: "ab".repeat(32), sameWithinMs: most })]);
      await store.append([newEvent({ eventId: "e-2" })]);
      const events = await store.pending(10);
      const jobs = events.map(({ id }, n) => ({ event: id, route: "default", dueAt: most - n, orderingKey: null }));
      await store.addJobs(numbersOf(events), jobs);
      assert.equal((await claim(store)).nextDueAt, most - 1);
      const [job, ...others] = (await claim(store, { now: most - 1, leaseMs: 1 })).claimed;
      assert.deepEqual([job?.eventId, others], ["e-2", []]);
      assert.ok(job);
      const times = { startedAt: EARLY, finishedAt: most };
      await store.settle([{ ...claimOf(job), next: { to: "failed", reason: "no" }, ...times, error: "no" }]);
      const detail = (await store.get("e-2"))[0]?.jobs[0];
      assert.deepEqual([detail?.history[0]?.startedAt, detail?.history[0]?.finishedAt], [EARLY, most]);
      assert.equal(detail?.deadLetter?.failedAt, most);
      const again = { bytesSha256: "ab".repeat(32), sameWithinMs: most, receivedAt: FAR };
      assert.equal((await store.append([newEvent(again)]))[0]?.duplicate, true);
    });

    test("conflicts of one time are in one order, in which they are replayed", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const bodies = shuffled.map((text) => Buffer.from(text));
      for (const payload of bodies) await store.append([newEvent({ payload })]);
      const digests = bodies.map((body) => createHash("sha256").update(body).digest("hex")).sort();
      const [event] = await store.get("e-1");
      assert.deepEqual(
        event?.conflicts.map(({ payloadSha256 }) => payloadSha256),
        digests,
      );
      assert.equal(await store.replayConflict({ eventId: "e-1", source: "default" }, 3, NOW), true);
      assert.equal((await store.get(`sha256:${digests[2]}`)).length, 1);
    });

    test("the last time of a conflict and of a repeat only moves forward", async (t) => {
      const store = await open(t);
      const repeat = { bytesSha256: "cd".repeat(32), source: "r" };
      await store.append([newEvent(), newEvent(repeat)]);
      const batch = (receivedAt: number) => [
        newEvent({ payload: Buffer.from("other"), receivedAt }),
        newEvent({ ...repeat, eventId: "again", receivedAt }),
      ];
      await store.append([...batch(NOW + 5), ...batch(NOW + 2)]);
      await store.append(batch(NOW + 1));
      const [conflict] = (await store.get("e-1", "default"))[0]?.conflicts ?? [];
      const [kept] = (await store.get("e-1", "r"))[0]?.repeats ?? [];
      assert.deepEqual([conflict?.firstAt, conflict?.lastAt, conflict?.deliveries], [NOW + 5, NOW + 5, 3]);
      assert.deepEqual([kept?.firstAt, kept?.lastAt, kept?.deliveries], [NOW + 5, NOW + 5, 3]);
    });

    test("jobs that are due at one time are claimed in order of arrival", async (t) => {
      const store = await open(t);
      const ids = shuffled.map((name) => `e-${name}`);
      await store.append(ids.map((eventId) => newEvent({ eventId })));
      assert.deepEqual(idsOf((await claim(store)).claimed), ids);
    });

    test("of routes that failed at one time, the error of the first by name is that of the event", async (t) => {
      const store = await open(t);
      await store.append([newEvent()]);
      const events = await store.pending(10);
      const ofRoute = (route: string) => ({
        event: numbersOf(events)[0] as number,
        route,
        dueAt: NOW,
        orderingKey: null,
      });
      await store.addJobs(numbersOf(events), shuffled.map(ofRoute));
      for (const route of shuffled) {
        const [job] = (await claim(store, { route })).claimed;
        const next = { to: "failed", reason: "no" } as const;
        if (job) await store.settle([{ ...claimOf(job), next, startedAt: NOW, finishedAt: NOW, error: route }]);
      }
      assert.equal((await store.list({ limit: 1 })).items[0]?.lastError, "Z");
    });
  });
}
