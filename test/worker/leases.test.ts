import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AppError } from "../../src/errors.ts";
import type { EventStore } from "../../src/events/store.ts";
import type { WorkerOptions } from "../../src/worker/worker.ts";
import { claim, claimOne, eventAndJob, newEvent } from "../helpers/events.ts";
import { until } from "../helpers/until.ts";
import { hang, openWorker } from "./open-worker.ts";

const ONE_ATTEMPT = { attempts: 1, backoff: "linear", delayMs: 40, maxDelayMs: 86_400_000, jitter: 0 } as const;

/** A lease that is renewed after a second. A process that stands still for the rest of it would lose the lease. */
const RENEWED_MS = 3000;

const outcomesOf = async (events: EventStore, eventId: string) =>
  (await eventAndJob(events, eventId))?.history?.map(({ outcome }) => outcome);

/** A store whose method fails at its first `times` calls. */
function failing(
  events: EventStore,
  method: "claim" | "settle",
  times: number,
  onFailure = () => {},
): WorkerOptions["store"] {
  let left = times;
  function fails(called: typeof method): boolean {
    if (called !== method || left-- <= 0) return false;
    onFailure();
    return true;
  }
  const failure = () => Promise.reject(new AppError("store_unavailable"));
  return {
    ...events,
    claim: (request) => (fails("claim") ? failure() : events.claim(request)),
    settle: (batch) => (fails("settle") ? failure() : events.settle(batch)),
  };
}

suite("a lease", () => {
  test("is renewed while its handler runs, so that no other worker claims the job", async (t) => {
    const gate = Promise.withResolvers<void>();
    const { worker, append, events, status } = openWorker(t, () => gate.promise, { leaseMs: RENEWED_MS });
    await append("a");
    worker.start();
    await until(async () => (await eventAndJob(events, "a"))?.leased);
    const endsAt = async () => (await eventAndJob(events, "a"))?.dueAt ?? 0;
    const behindFirst = (await endsAt()) + 1;
    await until(async () => (await endsAt()) > behindFirst);
    assert.deepEqual((await claim(events, { owner: "other", now: behindFirst })).claimed, []);
    gate.resolve();
    await until(async () => (await status("a")) === "processed");
    assert.equal((await eventAndJob(events, "a"))?.attempts, 1);
  });

  test("is renewed in one call with those of all other runs", async (t) => {
    const gate = Promise.withResolvers<void>();
    const renewed: number[] = [];
    const { worker, append } = openWorker(
      t,
      () => gate.promise,
      (events) => ({
        leaseMs: RENEWED_MS,
        store: {
          ...events,
          renew(claims, ...rest) {
            renewed.push(claims.length);
            return events.renew(claims, ...rest);
          },
        },
      }),
    );
    for (const id of ["a", "b", "c"]) await append(id);
    worker.start();
    await until(() => renewed.includes(3));
    gate.resolve();
  });

  test("survives a clock that is set forward: the handler runs once, also on its last attempt", async (t) => {
    let ahead = 0;
    let runs = 0;
    const gate = Promise.withResolvers<void>();
    const handler = () => {
      runs++;
      return gate.promise;
    };
    const { worker, append, events, status } = openWorker(t, handler, {
      retry: ONE_ATTEMPT,
      now: () => Date.now() + ahead,
    });
    await append("a");
    worker.start();
    await until(() => runs === 1);
    ahead = 3_600_000;
    await until(async () => ((await eventAndJob(events, "a"))?.dueAt ?? 0) > Date.now() + ahead);
    gate.resolve();
    await until(async () => (await status("a")) === "processed");
    assert.equal(runs, 1);
    assert.deepEqual(await outcomesOf(events, "a"), ["succeeded"]);
  });

  test("outlasts an outage of the store, so that the handler does not run again", async (t) => {
    let failed = 0;
    let runs = 0;
    const handler = async () => void runs++;
    const { worker, append, events, status, named } = openWorker(t, handler, (store) => ({
      store: failing(store, "settle", 2, () => failed++),
      retry: ONE_ATTEMPT,
      leaseMs: RENEWED_MS,
    }));
    await append("a");
    worker.start();
    await until(async () => (await status("a")) === "processed");
    assert.equal(failed, 2);
    assert.equal(runs, 1);
    assert.equal(
      named("worker_error").filter(({ message }) => String(message).includes("could not be recorded")).length,
      1,
    );
    assert.deepEqual(await outcomesOf(events, "a"), ["succeeded"]);
  });

  test("that was lost interrupts the run, and the settle changes nothing", async (t) => {
    let ended: unknown;
    const { worker, append, events, named } = openWorker(
      t,
      (_, signal) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            ended = signal.reason;
            reject(signal.reason);
          }),
        ),
      { leaseMs: 90, pollIntervalMs: 60_000 },
    );
    await append("a");
    worker.start();
    await until(async () => (await eventAndJob(events, "a"))?.leased);
    const far = Date.now() + 10_000;
    await claimOne(events, { owner: "other", leaseMs: 60_000, now: far });
    await until(() => named("lease_lost").length === 1);
    assert.match(String(ended), /lease was lost/);
    const event = await eventAndJob(events, "a");
    assert.deepEqual([event?.status, event?.attempts, event?.leased], ["queued", 2, true]);
  });

  test("of a dead worker is taken over; after the last attempt the job is a dead letter", async (t) => {
    const { worker, events, status, named } = openWorker(t, async () => {});
    const died = (limit: number, now: number) => claimOne(events, { owner: "dead", limit, leaseMs: 1, now });
    const start = Date.now() - 1000;
    await events.append([newEvent({ eventId: "spent", receivedAt: start })]);
    for (const later of [0, 10, 20]) await died(1, start + later);
    await events.append([newEvent({ eventId: "once", receivedAt: start + 5 })]);
    assert.equal((await died(1, start + 20)).eventId, "once");
    worker.start();
    await until(async () => (await status("spent")) === "failed" && (await status("once")) === "processed");
    assert.deepEqual(
      named("event_dead_lettered").map(({ eventId }) => eventId),
      ["spent"],
    );
  });
});

suite("stopping", () => {
  test("claims nothing more and waits for running attempts", async (t) => {
    const gate = Promise.withResolvers<void>();
    const { worker, append, events, status } = openWorker(t, () => gate.promise, { concurrency: 1 });
    await append("a", "b");
    worker.start();
    await until(async () => (await eventAndJob(events, "a"))?.leased);
    let stopped = false;
    const stopping = worker.stop(5000).then(() => {
      stopped = true;
    });
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    assert.equal(stopped, false);
    gate.resolve();
    await stopping;
    assert.equal(await status("a"), "processed");
    assert.deepEqual([await status("b"), (await eventAndJob(events, "b"))?.attempts], ["queued", 0]);
  });

  test("interrupts a handler at the deadline and queues its job again, due now", async (t) => {
    const { worker, append, events } = openWorker(t, hang);
    await append("a");
    worker.start();
    await until(async () => (await eventAndJob(events, "a"))?.leased);
    await worker.stop(50);
    const event = await eventAndJob(events, "a");
    assert.deepEqual([event?.status, event?.leased, event?.attempts], ["queued", false, 1]);
    assert.ok((event?.dueAt ?? Number.POSITIVE_INFINITY) <= Date.now());
    assert.match(event?.lastError ?? "", /server stopped/);
  });

  test("releases jobs claimed ahead without a dead letter, also in the last attempt", async (t) => {
    const hung: string[] = [];
    let done = 0;
    const { worker, append, events } = openWorker(
      t,
      ({ eventId }) => {
        if (++done <= 200) return Promise.resolve();
        hung.push(eventId);
        return new Promise(() => {});
      },
      { retry: { attempts: 1, backoff: "linear", delayMs: 1, maxDelayMs: 86_400_000, jitter: 0 } },
    );
    const ids = Array.from({ length: 260 }, (_, index) => `e${index}`);
    await append(...ids);
    worker.start();
    const claimed = async () =>
      (await events.list({ limit: 300, status: "queued" })).items.filter((e) => e.attempts > 0);
    await until(async () => hung.length === 3 && (await claimed()).length > 3);
    await worker.stop(50);
    assert.deepEqual((await claimed()).map(({ eventId }) => eventId).sort(), hung.sort());
    assert.equal((await events.backlog()).failed, 0);
  });

  test("records what has ended while there is time, also if the store fails meanwhile", async (t) => {
    const gate = Promise.withResolvers<void>();
    const { worker, append, events, status, named } = openWorker(
      t,
      () => gate.promise,
      (store) => ({ store: failing(store, "settle", 2) }),
    );
    await append("a");
    worker.start();
    await until(async () => (await eventAndJob(events, "a"))?.leased);
    const stopped = worker.stop(60_000);
    gate.resolve();
    await stopped;
    assert.equal(await status("a"), "processed");
    assert.equal(named("worker_error").length, 1);
  });

  test("retries a failing store at most once and leaves the job to its lease", async (t) => {
    const { worker, append, events, named } = openWorker(
      t,
      async () => {},
      (events) => ({ store: failing(events, "settle", 3) }),
    );
    await append("a");
    worker.start();
    await until(() => named("worker_error").length > 0);
    await worker.stop(0);
    const event = await eventAndJob(events, "a");
    assert.deepEqual([event?.status, event?.leased], ["queued", true]);
  });

  test("logs repeated failures of the store once", async (t) => {
    let calls = 0;
    const { worker, named } = openWorker(
      t,
      async () => {},
      (events) => ({
        pollIntervalMs: 10,
        store: {
          ...events,
          claim() {
            calls++;
            return Promise.reject(new Error("the page is damaged"));
          },
        },
      }),
    );
    worker.start();
    await until(() => calls > 2);
    assert.deepEqual(
      named("worker_error").map(({ error }) => error),
      ["the page is damaged"],
    );
    await worker.stop(0);
  });

  test("ends at once when the worker is idle", async (t) => {
    const { worker } = openWorker(t, async () => {});
    worker.start();
    // A stop that waits for its deadline does not end within the test's.
    await worker.stop(86_400_000);
  });
});

suite("a store that fails", () => {
  for (const method of ["claim", "settle"] as const) {
    test(`to ${method} is retried, and the event is processed after recovery`, async (t) => {
      let runs = 0;
      const handler = async () => void runs++;
      const { worker, append, events, named } = openWorker(t, handler, (store) => ({
        store: failing(store, method, 1),
      }));
      await append("a");
      worker.start();
      await until(async () => (await events.backlog()).processed === 1);
      assert.equal(runs, 1);
      assert.ok(method === "settle" || named("worker_error").length >= 1);
    });
  }
});
