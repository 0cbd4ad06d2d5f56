import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { createParts, type Part } from "../../src/serve/parts.ts";

/** Parts that write down what they do. */
function open() {
  const parts = createParts();
  const done: string[] = [];
  const part = (name: string, more: Part = {}): Part => ({
    start: () => void done.push(`start ${name}`),
    apply: () => void done.push(`apply ${name}`),
    stop: () => void done.push(`stop ${name}`),
    ...more,
  });
  return { ...parts, part, done };
}

const fails = () => Promise.reject(new Error("broken"));

suite("the parts of a server", () => {
  test("start in order, apply a configuration in order, and stop in the reverse order", async () => {
    const { start, apply, stop, part, done } = open();
    await start(part("a"));
    await start(part("b"));
    apply(null);
    await stop(0);
    assert.deepEqual(done, ["start a", "start b", "apply a", "apply b", "stop b", "stop a"]);
  });

  test("stop one after the other, and those of one step at the same time", async () => {
    const { start, stop, part, done } = open();
    const gate = Promise.withResolvers<void>();
    await start(part("a"));
    await start(part("b", { stop: () => gate.promise }), part("c"));
    done.length = 0;
    const stopping = stop(0);
    await nextTurn();
    assert.deepEqual(done, ["stop c"]);
    gate.resolve();
    await stopping;
    assert.deepEqual(done, ["stop c", "stop a"]);
  });

  test("get the deadline", async () => {
    const { start, stop } = open();
    const found: number[] = [];
    await start({ stop: (deadline) => void found.push(deadline) });
    await stop(7);
    assert.deepEqual(found, [7]);
  });

  test("stop also if their start has failed", async () => {
    const { start, stop, part, done } = open();
    await start(part("a"));
    await assert.rejects(start(part("b", { start: fails })), /broken/);
    await stop(0);
    assert.deepEqual(done, ["start a", "stop b", "stop a"]);
  });

  test("fail to start when no start runs any more, so that a stop finds them all started", async () => {
    const { start, stop, part, done } = open();
    const gate = Promise.withResolvers<void>();
    const slow = part("slow", { start: () => gate.promise.then(() => void done.push("start slow")) });
    const starting = start(part("b", { start: fails }), slow).catch(() => void done.push("failed"));
    await nextTurn();
    assert.deepEqual(done, []);
    gate.resolve();
    await starting;
    await stop(0);
    assert.deepEqual(done, ["start slow", "failed", "stop b", "stop slow"]);
  });

  test("tell every failure of a start or a stop", async () => {
    const failsWith = (message: string) => () => Promise.reject(new Error(message));
    const { start, stop, part } = open();
    await assert.rejects(start(part("a", { start: failsWith("one") }), part("b", { start: failsWith("two") })), {
      message: "one; two",
    });
    await start(part("c", { stop: failsWith("three") }));
    await start(part("d", { stop: failsWith("four") }));
    await assert.rejects(stop(0), { message: "four; three" });
  });

  test("all stop if one of them cannot, which is told then", async () => {
    const { start, stop, part, done } = open();
    await start(part("a"));
    await start(part("b", { stop: fails }));
    await assert.rejects(stop(0), /broken/);
    assert.deepEqual(done, ["start a", "start b", "stop a"]);
  });

  test("stop once", async () => {
    const { start, stop, part, done } = open();
    await start(part("a"));
    await stop(0);
    await stop(0);
    assert.deepEqual(done, ["start a", "stop a"]);
  });
});
