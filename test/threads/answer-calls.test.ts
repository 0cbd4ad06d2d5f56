import assert from "node:assert/strict";
import { test } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { AppError } from "../../src/errors.ts";
import { answerCalls } from "../../src/threads/answer-calls.ts";
import { createRemote, type Remote } from "../../src/threads/remote.ts";
import { failsWith } from "../helpers/fails-with.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

function connect(t: Cleanup, targets: object): Remote {
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  answerCalls(targets, port2);
  return createRemote(port1);
}

test("a call that is done early does not wait for one that came before it", async (t) => {
  const gate = Promise.withResolvers<string>();
  const remote = connect(t, { part: { slow: () => gate.promise, double: async (n: number) => 2 * n } });
  const slow = remote.call("part", "slow", []);
  assert.equal(await remote.call("part", "double", [21]), 42);
  gate.resolve("done");
  assert.equal(await slow, "done");
});

test("an error crosses with its code and all that the client may see of it", async (t) => {
  const shown = { retryAfterSeconds: 7, errors: [{ path: "a", message: "is required" }], members: { since: 1 } };
  const remote = connect(t, {
    part: {
      refuse: () => Promise.reject(new AppError("too_many_attempts", { ...shown, cause: new Error("ten failures") })),
      break: () => Promise.reject(new Error("a defect")),
    },
  });
  const error = await failsWith("too_many_attempts", remote.call("part", "refuse", []));
  assert.deepEqual({ retryAfterSeconds: error.retryAfterSeconds, errors: error.errors, members: error.members }, shown);
  assert.equal((error.cause as Error).message, "ten failures");
  await assert.rejects(remote.call("part", "break", []), { name: "Error", message: "a defect" });
  await assert.rejects(remote.call("part", "unknown", []), /no part\.unknown/);
});
