import assert from "node:assert/strict";
import { stat } from "node:fs";
import { suite, test } from "node:test";
import type { ClaimedJob } from "../../src/events/job.ts";
import { runEvent } from "../../src/worker/attempt.ts";
import type { EventHandler } from "../../src/worker/handler.ts";
import { handlerOf } from "../helpers/route.ts";

const EVENT: ClaimedJob = {
  event: 1,
  route: "default",
  source: "default",
  eventId: "e-1",
  type: "push",
  contentType: "application/json",
  payload: Buffer.from("{}"),
  headers: "{}",
  isReplay: false,
  attempt: 1,
  countedAttempt: 1,
  receivedAt: 1,
  attemptOfBudget: 1,
};
const NEVER = new AbortController().signal;
const hang: EventHandler = () => new Promise(() => {});

const run = (handler: EventHandler, timeoutMs = 60_000, interruption = NEVER) =>
  runEvent(handlerOf(handler), EVENT, timeoutMs, interruption);

suite("a handler", () => {
  test("that returns has succeeded and received the event", async () => {
    let seen: ClaimedJob | undefined;
    const outcome = await run(async (event) => {
      seen = event;
    });
    assert.deepEqual(outcome, { kind: "succeeded" });
    assert.equal(seen, EVENT);
  });

  test("that rejects or throws has failed with its message and its causes", async () => {
    const error = new Error("outer", { cause: new Error("inner") });
    assert.deepEqual(await run(() => Promise.reject(error)), { kind: "failed", error: "outer: inner" });
    const throws: EventHandler = () => {
      throw new Error("at once");
    };
    assert.deepEqual(await run(throws), { kind: "failed", error: "at once" });
  });

  test("without a file descriptor is unable and not failed", async () => {
    for (const code of ["EMFILE", "ENFILE"]) {
      const outcome = await run(() => Promise.reject(Object.assign(new Error(`${code}: connect`), { code })));
      assert.deepEqual(outcome, { kind: "unable", error: `${code}: connect` });
    }
  });

  const loop = new Error("loop");
  loop.cause = loop;
  for (const [what, thrown] of [
    ["a text", "text"],
    ["nothing", undefined],
    ["null", null],
    ["an object", { a: 1 }],
    ["an object without a prototype", Object.create(null)],
    ["an error that is its own cause", loop],
    ["an error whose message is no text", Object.assign(new Error(), { message: 5 })],
  ] as [string, unknown][]) {
    test(`that throws ${what} has failed too`, async () => {
      const outcome = await run(() => Promise.reject(thrown));
      assert.equal(outcome.kind, "failed");
    });
  }

  test("has an error of bounded length", async () => {
    const outcome = await run(() => Promise.reject(new Error("x".repeat(100_000))));
    assert.ok(outcome.kind === "failed" && outcome.error.length <= 1000);
  });

  test("that hangs has failed at its time limit, even if it ignores the signal", async () => {
    const outcome = await run(hang, 40);
    assert.deepEqual(outcome, {
      kind: "failed",
      error: "the handler did not finish within 40 ms",
      isUnavailable: true,
    });
  });

  test("whose answer arrived while the process was paused has succeeded, even after its time limit", async () => {
    const answered = () =>
      new Promise<void>((resolve) => {
        stat(import.meta.filename, () => resolve());
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
      });
    assert.deepEqual(await run(answered, 20), { kind: "succeeded" });
  });

  test("gets an abort signal at its time limit", async () => {
    let aborted = false;
    await run((_, signal) => {
      signal.addEventListener("abort", () => {
        aborted = true;
      });
      return new Promise(() => {});
    }, 20);
    assert.equal(aborted, true);
  });

  test("that rejects because of the signal has failed by the time limit", async () => {
    const obedient: EventHandler = (_, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    assert.match(JSON.stringify(await run(obedient, 20)), /did not finish within 20 ms/);
  });

  test("that is interrupted ends as interrupted, even if it ignores the signal", async () => {
    const controller = new AbortController();
    const running = run(hang, 10_000, controller.signal);
    controller.abort(new Error("the server stopped"));
    assert.deepEqual(await running, { kind: "interrupted", error: "the server stopped" });
  });

  test("is not started after an interruption", async () => {
    let started = false;
    const start: EventHandler = async () => {
      started = true;
    };
    const outcome = await run(start, 1000, AbortSignal.abort(new Error("the server stopped")));
    assert.equal(outcome.kind, "interrupted");
    assert.equal(started, false);
  });

  test("that fails after its time limit causes no further error", async () => {
    let fail: (error: Error) => void = () => {};
    const late = new Promise<never>((_, reject) => {
      fail = reject;
    });
    assert.equal((await run(() => late, 10)).kind, "failed");
    let unhandled: unknown;
    const onUnhandled = (reason: unknown) => {
      unhandled = reason;
    };
    process.on("unhandledRejection", onUnhandled);
    fail(new Error("too late"));
    for (let i = 0; i < 5; i++) await new Promise(setImmediate);
    process.off("unhandledRejection", onUnhandled);
    assert.equal(unhandled, undefined);
  });
});

suite("a run that ends with its signal", () => {
  test("is waited for after the time-out", async () => {
    let isEnded = false;
    const handler: EventHandler = (_event, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () =>
          setImmediate(() => {
            isEnded = true;
            reject(new Error("ended"));
          }),
        );
      });
    const outcome = await runEvent(handlerOf(handler, { endsWithSignal: true, target: null }), EVENT, 10, NEVER);
    const error = "the handler did not finish within 10 ms";
    assert.deepEqual([outcome, isEnded], [{ kind: "failed", error, isUnavailable: false }, true]);
  });
});
