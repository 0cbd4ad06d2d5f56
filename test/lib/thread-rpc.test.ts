import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { MessageChannel, type Worker } from "node:worker_threads";
import { AppError } from "../../src/errors.ts";
import { callThread, type RunCall, serveCalls } from "../../src/lib/thread-rpc.ts";
import { failsWith } from "../helpers/fails-with.ts";

/** A thread, simulated by the other end of a channel. */
function open(t: TestContext, run: RunCall = (call) => call()) {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  const part = {
    double: (n: number) => 2 * n,
    break: () => {
      throw new Error("a defect");
    },
    refuse: () => {
      throw new AppError("queue_full", { retryAfterSeconds: 3, cause: new Error("too much") });
    },
  };
  serveCalls({ part }, port2, run);
  return callThread<{ part: typeof part & { nothing(): void } }>(port1 as unknown as Worker, "the thread");
}

test("calls are answered in order, each with its own result", async (t) => {
  const { call } = open(t);
  assert.deepEqual(await Promise.all([call("part", "double", [1]), call("part", "double", [2])]), [2, 4]);
});

test("a failing call rejects with its message and does not affect others", async (t) => {
  const { call } = open(t);
  const ends = await Promise.allSettled([
    call("part", "double", [1]),
    call("part", "break", []),
    call("part", "double", [2]),
  ]);
  assert.deepEqual(
    ends.map(({ status }) => status),
    ["fulfilled", "rejected", "fulfilled"],
  );
  await assert.rejects(call("part", "break", []), /a defect/);
});

test("an AppError arrives with its code, its Retry-After and its cause", async (t) => {
  const error = await failsWith("queue_full", open(t).call("part", "refuse", []));
  assert.equal(error.retryAfterSeconds, 3);
  assert.equal((error.cause as Error).message, "too much");
});

test("a call to an unknown method fails", async (t) => {
  await assert.rejects(open(t).call("part", "nothing", []), /no part\.nothing/);
});

test("each call is run by the function that the thread passes", async (t) => {
  let runs = 0;
  const { call } = open(t, (run) => {
    runs++;
    return run();
  });
  await Promise.all([call("part", "double", [1]), call("part", "double", [2])]);
  assert.equal(runs, 2);
});
