import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { ClaimedJob } from "../../src/events/job.ts";
import type { EventStore } from "../../src/events/store.ts";
import { type EventHandler, TargetError, TransformationError } from "../../src/worker/handler.ts";
import { withTransform } from "../../src/worker/transform/handler.ts";
import type { Transformer } from "../../src/worker/transform/transformer.ts";
import type { WorkerOptions } from "../../src/worker/worker.ts";
import { handlerOf, route } from "../helpers/route.ts";
import { until } from "../helpers/until.ts";
import { openWorker } from "./open-worker.ts";

const RETRY = { attempts: 3, backoff: "linear", delayMs: 10, maxDelayMs: 10, jitter: 0 } as const;
const OUTPUT = { payload: Buffer.from("made"), contentType: "text/plain" };
const unavailable = () => Promise.reject(new TargetError("the target answered 503", { isUnavailable: true }));
const fails = () => Promise.reject(new TransformationError("the transformation failed: no", { isFinal: true }));

/** A worker whose route sends what `transform` makes of the event with an id. */
function openTransforming(
  t: TestContext,
  target: EventHandler,
  transform: (eventId: string, signal: AbortSignal) => Promise<typeof OUTPUT>,
  {
    concurrency = 3,
    timeoutMs = 60_000,
    ...options
  }: Partial<WorkerOptions> & { concurrency?: number; timeoutMs?: number } = {},
) {
  let events: EventStore | undefined;
  const opened = openWorker(t, target, (store) => {
    events = store;
    return options;
  });
  const transformer: Transformer = {
    run: ({ event }, _route, signal) => transform(event.id, signal),
    close: async () => {},
  };
  const tools = { store: events as EventStore, transformer, jsonOf: () => "{}" };
  opened.worker.applyRoutes([route({ retry: RETRY, concurrency, timeoutMs })], () =>
    withTransform(handlerOf(target), "$", tools),
  );
  const job = async (eventId: string) => (await opened.events.get(eventId))[0]?.jobs[0];
  return { ...opened, job };
}

suite("a transformation before an attempt", () => {
  test("that fails makes its job a dead letter at once, and the target is not asked", async (t) => {
    let asked = 0;
    const { worker, append, job } = openTransforming(t, async () => void asked++, fails);
    await append("e1");
    worker.start();
    await until(async () => (await job("e1"))?.status === "failed");
    const failed = await job("e1");
    assert.deepEqual(
      [asked, failed?.attempts, failed?.deadLetter?.reason, failed?.lastError],
      [0, 1, "attempt 1, not retried: the transformation failed: no", "the transformation failed: no"],
    );
  });

  test("that failed is made again by a replay", async (t) => {
    let isCorrected = false;
    const { worker, events, append, job } = openTransforming(
      t,
      async () => {},
      () => (isCorrected ? Promise.resolve(OUTPUT) : fails()),
    );
    await append("e1");
    worker.start();
    await until(async () => (await job("e1"))?.status === "failed");
    isCorrected = true;
    await events.replay({ source: "default", eventId: "e1" }, Date.now());
    worker.notify("jobs");
    await until(async () => (await job("e1"))?.status === "processed");
  });

  test("does not open the breaker of its target, however often it fails", async (t) => {
    const { worker, append, job } = openTransforming(
      t,
      async () => {},
      (id) => (id === "good" ? Promise.resolve(OUTPUT) : fails()),
    );
    const ids = Array.from({ length: 8 }, (_, n) => `e${n}`);
    await append(...ids);
    worker.start();
    await until(async () => (await job("e7"))?.status === "failed");
    assert.equal(worker.isAvailable("default"), true);
    await append("good");
    worker.notify("events");
    await until(async () => (await job("good"))?.status === "processed");
  });

  test("that fails leaves the breaker of a dead target open", async (t) => {
    const { worker, append, job, lines } = openTransforming(
      t,
      unavailable,
      (id) => (id.startsWith("bad") ? fails() : Promise.resolve(OUTPUT)),
      // A clock that runs fast: the waits between probes are short.
      { monotonic: () => 100 * performance.now() },
    );
    await append("e1", "e2", "e3", "e4", "e5");
    worker.start();
    await until(() => !worker.isAvailable("default"));
    await append("bad1", "bad2");
    worker.notify("events");
    await until(async () => (await job("bad2"))?.status === "failed");
    assert.equal(worker.isAvailable("default"), false);
    assert.deepEqual(
      lines.filter(({ event }) => event === "target_available"),
      [],
    );
  });

  test("that succeeds before a request that cannot be made leaves it open, too", async (t) => {
    let isAsked = false;
    const target: EventHandler = ({ eventId }) => {
      if (eventId !== "bad") return unavailable();
      isAsked = true;
      return Promise.reject(new Error("the request cannot be signed"));
    };
    const { worker, append } = openTransforming(t, target, () => Promise.resolve(OUTPUT), {
      monotonic: () => 100 * performance.now(),
    });
    await append("e1", "e2", "e3", "e4", "e5");
    worker.start();
    await until(() => !worker.isAvailable("default"));
    await append("bad");
    worker.notify("events");
    await until(() => isAsked);
    await worker.stop(1000);
    assert.equal(worker.isAvailable("default"), false);
  });

  test("that waits for its turn does not count towards the route's timeout", async (t) => {
    const timeoutMs = 100;
    const transform = async () => {
      await delay(3 * timeoutMs);
      return OUTPUT;
    };
    const { worker, append, job } = openTransforming(t, async () => {}, transform, { timeoutMs });
    await append("e1");
    worker.start();
    await until(async () => ["processed", "failed"].includes((await job("e1"))?.status ?? ""));
    assert.deepEqual([(await job("e1"))?.status, (await job("e1"))?.attempts], ["processed", 1]);
  });

  test("that this server could not make is made again, and counts no attempt", async (t) => {
    let tries = 0;
    const told: number[] = [];
    const { worker, append, job } = openTransforming(
      t,
      async ({ countedAttempt }: ClaimedJob) => void told.push(countedAttempt),
      () =>
        ++tries <= RETRY.attempts
          ? Promise.reject(new TransformationError("no thread", { isFinal: false }))
          : Promise.resolve(OUTPUT),
    );
    await append("e1");
    worker.start();
    await until(async () => ["processed", "failed"].includes((await job("e1"))?.status ?? ""));
    assert.equal((await job("e1"))?.status, "processed");
    assert.equal(worker.isAvailable("default"), true);
  });

  test("that a stop interrupts is made again", async (t) => {
    const { worker, append, job } = openTransforming(
      t,
      async () => {},
      (_, signal) => new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
    );
    await append("e1");
    worker.start();
    await until(async () => (await job("e1"))?.leased === true);
    await worker.stop(0);
    const { status, leased } = (await job("e1")) ?? {};
    assert.deepEqual([status, leased], ["queued", false]);
  });

  test("asks no target whose breaker opened meanwhile, and counts no attempt then", async (t) => {
    const late = Promise.withResolvers<typeof OUTPUT>();
    let isDead = true;
    const asked: string[] = [];
    const { worker, append, job } = openTransforming(
      t,
      async ({ eventId }: ClaimedJob) => {
        asked.push(eventId);
        if (isDead) await unavailable();
      },
      (id) => (id === "late" ? late.promise : Promise.resolve(OUTPUT)),
      { concurrency: 6 },
    );
    await append("late", "e1", "e2", "e3", "e4", "e5");
    worker.start();
    await until(() => !worker.isAvailable("default"));
    const before = asked.length;
    late.resolve(OUTPUT);
    await until(async () => (await job("late"))?.status === "queued");
    assert.deepEqual(asked.slice(0, before).includes("late"), false);
    assert.equal((await job("late"))?.history.length, 0);
    isDead = false;
    await until(async () => (await job("late"))?.status === "processed");
    assert.equal((await job("late"))?.attempts, 1);
  });
});
