import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { NewJob } from "../../src/events/job.ts";
import type { PendingEvent } from "../../src/events/store.ts";
import { createFanOut } from "../../src/worker/fan-out.ts";
import type { Routing } from "../../src/worker/routing.ts";

/** A fan-out over given events, with a clock that the test sets. */
function opened(
  receivedAt: number[],
  routesOf = (_: { type: string }): string[] => ["default"],
  payloads: string[] = [],
) {
  const waiting: PendingEvent[] = receivedAt.map((at, index) => ({
    id: index + 1,
    source: "s",
    type: `t${index + 1}`,
    receivedAt: at,
  }));
  const routing: Routing = {
    readsPayload: () => payloads.length > 0,
    jobsOf: (event, payload) =>
      routesOf(event).map((route) => ({
        route,
        delayMs: route === "late" ? 60_000 : 0,
        orderingKey: payload && Buffer.from(payload.payload).toString(),
      })),
    setAside: (event, failure) => routesOf(event).map((route) => ({ route, delayMs: 0, orderingKey: null, failure })),
  };
  const jobs: NewJob[] = [];
  const rerouted: PendingEvent[] = [];
  const clock = { now: 1000, looks: 0, fails: false };
  const store = {
    async pending(limit: number) {
      clock.looks++;
      if (clock.fails) throw new Error("no");
      return waiting.slice(0, limit);
    },
    /** Two fit into an answer. */
    async payloads(events: number[]) {
      return events
        .slice(0, 2)
        .map((id) => ({ payload: Buffer.from(payloads[id - 1] ?? ""), contentType: "text/plain", headers: "{}" }));
    },
    async addJobs(events: number[], added: NewJob[]) {
      waiting.splice(0, events.length);
      jobs.push(...added);
    },
    async rerouted(limit: number) {
      return rerouted.slice(0, limit);
    },
    async addRerouted(events: number[], added: NewJob[]) {
      rerouted.splice(0, events.length);
      jobs.push(...added);
    },
  };
  const unrouted: string[] = [];
  const fanOut = createFanOut({
    store,
    routing: () => routing,
    routesCaptured: (source) => source === "asked",
    pollIntervalMs: 100,
    now: () => clock.now,
    monotonic: () => clock.now,
    onUnrouted: ({ type }) => unrouted.push(type),
  });
  return { fanOut, jobs, clock, rerouted, unrouted, waiting };
}

suite("fan-out", () => {
  test("creates a job for each route, due when the event arrived, or now if the clock was set back", async () => {
    const { fanOut, jobs } = opened([900, 5000], ({ type }) => (type === "t1" ? ["a", "b"] : ["a"]));
    await fanOut.run(10);
    assert.deepEqual(jobs, [
      { event: 1, route: "a", orderingKey: null, dueAt: 900 },
      { event: 1, route: "b", orderingKey: null, dueAt: 900 },
      { event: 2, route: "a", orderingKey: null, dueAt: 1000 },
    ]);
  });

  test("creates a job that is due after the delay of its route", async () => {
    const { fanOut, jobs } = opened([900, 5000], () => ["late"]);
    await fanOut.run(10);
    assert.deepEqual(
      jobs.map(({ dueAt }) => dueAt),
      [60_900, 61_000],
    );
  });

  test("creates no job for an event without a route, and does not read it again", async () => {
    const { fanOut, jobs } = opened([1, 2], () => []);
    await fanOut.run(1);
    await fanOut.run(1);
    await fanOut.run(1);
    assert.deepEqual([jobs, fanOut.isDue()], [[], false]);
  });

  test("tells of the first event of each source and type that no route takes", async () => {
    const { fanOut, unrouted, waiting } = opened([1, 2, 3], ({ type }) => (type === "t2" ? ["a"] : []));
    const again = waiting.map((event) => ({ ...event, id: event.id + 3 }));
    await fanOut.run(10);
    waiting.push(...again);
    fanOut.notify("events");
    await fanOut.run(10);
    assert.deepEqual(unrouted, ["t1", "t3"]);
  });

  test("is due while pages are full, then after notify and at each poll", async () => {
    const { fanOut, jobs, clock } = opened([1, 2, 3]);
    await fanOut.run(2);
    assert.deepEqual([jobs.length, fanOut.isDue()], [2, true]);
    await fanOut.run(2);
    assert.deepEqual([jobs.length, fanOut.isDue()], [3, false]);
    await fanOut.run(2);
    assert.equal(clock.looks, 2);
    fanOut.notify("events");
    await fanOut.run(2);
    clock.now += 100;
    await fanOut.run(2);
    assert.equal(clock.looks, 4);
  });

  test("routes events with payloads in order, as many as the store reads at once", async () => {
    const { fanOut, jobs } = opened([1, 1, 1], undefined, ["x", "y", "z"]);
    await fanOut.run(10);
    assert.ok(jobs.length < 3);
    // A busy machine judges fewer events in a step.
    while (fanOut.isDue() && jobs.length < 3) await fanOut.run(10);
    assert.deepEqual(
      jobs.map(({ orderingKey }) => orderingKey),
      ["x", "y", "z"],
    );
  });

  test("routes the events of forced replays again, page by page, after notify and at each poll", async () => {
    const { fanOut, jobs, clock, rerouted } = opened([]);
    const again = (...ids: number[]) =>
      rerouted.push(...ids.map((id) => ({ id, source: "s", type: "t1", receivedAt: 1 })));
    await fanOut.run(10);
    again(1, 2, 3);
    assert.equal(fanOut.isDue(), false);
    fanOut.notify("jobs");
    assert.deepEqual([...(await fanOut.run(2))], ["default"]);
    assert.equal(fanOut.isDue(), true);
    await fanOut.run(2);
    await fanOut.run(2);
    assert.deepEqual([jobs.map(({ event }) => event), fanOut.isDue()], [[1, 2, 3], false]);
    again(4);
    clock.now += 100;
    await fanOut.run(2);
    assert.deepEqual(
      jobs.map(({ event }) => event),
      [1, 2, 3, 4],
    );
  });

  test("is due again after an error", async () => {
    const { fanOut, jobs, clock } = opened([1]);
    clock.fails = true;
    await assert.rejects(fanOut.run(1));
    assert.equal(fanOut.isDue(), true);
    clock.fails = false;
    await fanOut.run(1);
    assert.equal(jobs.length, 1);
  });

  test("gives an event that nobody signed to routes only if its source asks for that, or in a forced replay", async () => {
    const { fanOut, jobs, rerouted, unrouted, waiting } = opened([1, 2, 3]);
    for (const [index, source] of ["s", "asked"].entries())
      Object.assign(waiting[index] ?? {}, { isCaptured: true, source });
    const [first] = waiting;
    await fanOut.run(10);
    assert.deepEqual(
      jobs.map(({ event }) => event),
      [2, 3],
    );
    assert.deepEqual(unrouted, []);
    if (first) rerouted.push(first);
    fanOut.notify("jobs");
    await fanOut.run(10);
    assert.equal(jobs.at(-1)?.event, 1);
  });
});
