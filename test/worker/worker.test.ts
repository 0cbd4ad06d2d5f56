import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { TargetError } from "../../src/worker/handler.ts";
import { eventAndJob, newEvent } from "../helpers/events.ts";
import { never, until } from "../helpers/until.ts";
import { hang, openWorker } from "./open-worker.ts";

suite("the worker", () => {
  test("processes stored events at its start, and new ones after notify", async (t) => {
    const seen: string[] = [];
    const { worker, append, status, named } = openWorker(t, async ({ eventId }) => void seen.push(eventId), {
      pollIntervalMs: 60_000,
    });
    await append("a");
    worker.start();
    await until(async () => (await status("a")) === "processed");
    await append("b");
    worker.notify("events");
    await until(async () => (await status("b")) === "processed");
    assert.deepEqual(seen, ["a", "b"]);
    assert.equal(named("event_processed").length, 2);
  });

  test("finds events of other processes by polling", async (t) => {
    let looks = 0;
    const { worker, append, status } = openWorker(
      t,
      async () => {},
      (events) => ({ store: { ...events, claim: (request) => events.claim(request).finally(() => looks++) } }),
    );
    worker.start();
    await until(() => looks > 0);
    await append("a");
    await until(async () => (await status("a")) === "processed");
  });

  test("runs each of many events once, and never exceeds its concurrency", async (t) => {
    const runs = new Map<string, number>();
    let running = 0;
    let most = 0;
    const { worker, append, events } = openWorker(t, async ({ eventId }) => {
      runs.set(eventId, (runs.get(eventId) ?? 0) + 1);
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 2));
      running--;
    });
    await append(...Array.from({ length: 60 }, (_, i) => `e-${i}`));
    worker.start();
    await until(async () => (await events.backlog()).processed === 60);
    assert.equal(most, 3);
    assert.equal(runs.size, 60);
    assert.ok([...runs.values()].every((count) => count === 1));
  });

  test("is not blocked by one slow handler", async (t) => {
    const gate = Promise.withResolvers<void>();
    const { worker, append, events, status } = openWorker(t, ({ eventId }) =>
      eventId === "slow" ? gate.promise : Promise.resolve(),
    );
    await append("slow", ...Array.from({ length: 20 }, (_, i) => `e-${i}`));
    worker.start();
    await until(async () => (await events.backlog()).processed === 20);
    assert.equal(await status("slow"), "queued");
    gate.resolve();
    await until(async () => (await status("slow")) === "processed");
  });

  test("retries with growing delays and then dead-letters, with every attempt in the history", async (t) => {
    const startedAt: number[] = [];
    const { worker, append, events, status, named } = openWorker(
      t,
      async () => {
        startedAt.push(Date.now());
        throw new Error("no");
      },
      { pollIntervalMs: 60_000 },
    );
    await append("a");
    worker.start();
    await until(async () => (await status("a")) === "failed");
    const [first = 0, second = 0, third = 0] = startedAt;
    assert.equal(startedAt.length, 3);
    assert.ok(second - first >= 40 && third - second >= 80, `waits: ${second - first}, ${third - second} ms`);
    assert.ok(third - first < 2000, "a retry waited for the poll");
    const event = await eventAndJob(events, "a");
    assert.deepEqual(
      event?.history?.map(({ outcome, error }) => [outcome, error]),
      Array(3).fill(["failed", "no"]),
    );
    assert.equal(event?.deadLetter?.reason, "attempt 3 of 3: no");
    await until(() => named("event_dead_lettered").length === 1);
    assert.equal(named("event_retried").length, 2);
  });

  test("continues after a handler throws any kind of value", async (t) => {
    const loop = new Error("loop");
    loop.cause = loop;
    const thrown: unknown[] = [loop, Object.create(null), undefined];
    const { worker, append, status } = openWorker(
      t,
      async ({ eventId }) => {
        if (eventId !== "good") throw thrown[Number(eventId)];
      },
      { concurrency: 1, retry: { attempts: 1, backoff: "linear", delayMs: 1, maxDelayMs: 86_400_000, jitter: 0 } },
    );
    await append("0", "1", "2", "good");
    worker.start();
    await until(async () => (await status("good")) === "processed");
    for (const id of ["0", "1", "2"]) assert.equal(await status(id), "failed", id);
  });

  test("fails an attempt at its time limit", async (t) => {
    const { worker, append, events, status } = openWorker(t, hang, {
      timeoutMs: 20,
      retry: { attempts: 1, backoff: "linear", delayMs: 1, maxDelayMs: 86_400_000, jitter: 0 },
    });
    await append("a");
    worker.start();
    await until(async () => (await status("a")) === "failed");
    assert.match((await events.get("a"))[0]?.lastError ?? "", /did not finish within 20 ms/);
  });

  test("without file descriptors makes few attempts and counts none, and recovers", async (t) => {
    let isOut = true;
    const { worker, append, events, named } = openWorker(t, async () => {
      if (isOut) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
    });
    const ids = Array.from({ length: 200 }, (_, n) => `e-${n}`);
    await append(...ids);
    worker.start();
    await until(() => named("target_unavailable").length === 1);
    // Five open the breaker; others had begun before that.
    await never(() => named("event_retried").length > 10, 500);
    isOut = false;
    await until(async () => (await events.backlog()).processed === ids.length);
    assert.deepEqual(named("event_dead_lettered"), []);
  });

  test("asks a target again although the clock was set back", async (t) => {
    let isOut = true;
    let setBackMs = 0;
    const now = () => Date.now() - setBackMs;
    const { worker, events, status, named } = openWorker(
      t,
      async () => {
        if (isOut) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      },
      () => ({ now }),
    );
    await events.append([1, 2, 3, 4, 5].map((n) => newEvent({ eventId: `e-${n}`, receivedAt: now() })));
    worker.start();
    await until(() => named("target_unavailable").length === 1);
    setBackMs = 3_600_000;
    isOut = false;
    await events.append([newEvent({ eventId: "later", receivedAt: now() })]);
    worker.notify("events");
    await until(async () => (await status("later")) === "processed");
  });

  test("notes an unavailable target while it is, and tries it at once when it is asked to", async (t) => {
    let isOut = true;
    // On this clock, the next probe never comes by itself.
    const monotonic = () => 0;
    const { worker, append, events, status } = openWorker(
      t,
      async () => {
        if (isOut) throw new TargetError("is away", { isUnavailable: true });
      },
      { monotonic },
    );
    await append("a", "b", "c", "d", "e", "f");
    worker.start();
    const noted = () => events.unavailableRoutes(Date.now());
    await until(async () => (await noted()).length === 1);
    const [{ since, probeAt } = { since: 0, probeAt: 0 }] = await noted();
    assert.ok(probeAt !== null && probeAt > since);
    isOut = false;
    assert.equal(await events.tryRoute("default", Date.now()), true);
    worker.notify("jobs");
    await until(async () => (await status("a")) === "processed");
    await until(async () => (await noted()).length === 0);
  });

  test("waits at a stop for work that continues after a result, until the deadline", async (t) => {
    for (const [deadlineMs, ends] of [
      [10_000, true],
      [20, false],
    ] as const) {
      const rest = Promise.withResolvers<void>();
      const { worker, append, status } = openWorker(t, async (_event, _signal, waitUntil) => waitUntil?.(rest.promise));
      await append("a");
      worker.start();
      await until(async () => (await status("a")) === "processed");
      let hasStopped = false;
      const stopped = worker.stop(deadlineMs).then(() => {
        hasStopped = true;
      });
      if (ends) {
        for (let turn = 0; turn < 20; turn++) await new Promise(setImmediate);
        assert.equal(hasStopped, false);
        rest.resolve();
      }
      await stopped;
    }
  });

  test("never logs a payload", async (t) => {
    const { worker, events, lines } = openWorker(t, () => Promise.reject(new Error("no")));
    await events.append([newEvent({ payload: Buffer.from('"hunter2"'), receivedAt: Date.now() })]);
    worker.start();
    await until(async () => (await events.backlog()).failed === 1);
    await worker.stop(0);
    assert.ok(lines.length >= 3);
    assert.ok(!JSON.stringify(lines).includes("hunter2"));
  });
});
