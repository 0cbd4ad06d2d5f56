import assert from "node:assert/strict";
import { createHook } from "node:async_hooks";
import { spawnSync } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { Worker } from "node:worker_threads";
import { keepShapeOfTicks, takeCollector } from "../src/garbage-collection.ts";

const MODULE = JSON.stringify(new URL("../src/garbage-collection.ts", import.meta.url).href);
const TIMES = 300;
const THREADS = 3;

test("threads that take their collectors at the same time all get them", async () => {
  const take = `
    import(${MODULE}).then(({ takeCollector }) => {
      for (let i = 0; i < ${TIMES}; i++) takeCollector();
    });`;
  const threads = Array.from({ length: THREADS }, () => new Worker(take, { eval: true }));
  const ends = threads.map((thread) => once(thread, "exit"));
  for (let i = 0; i < TIMES; i++) {
    assert.equal(typeof takeCollector(), "function");
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual((await Promise.all(ends)).flat(), Array(THREADS).fill(0));
});

test("V8 has the flag that makes objects young", () => {
  const code = `import(${MODULE}).then(({ makeObjectsYoung }) => makeObjectsYoung());`;
  // It says on stderr when it does not know one, and goes on.
  const { status, stderr } = spawnSync(process.execPath, ["-e", code], { encoding: "utf8" });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: "" });
});

test("the shape of ticks outlives a full collection", async () => {
  setFlagsFromString("--allow-natives-syntax");
  const haveSameShape = new Function("one", "other", "return %HaveSameMap(one, other)");
  const kept = new WeakRef(keepShapeOfTicks() as object);
  await new Promise((resolve) => setImmediate(resolve));
  takeCollector()({ type: "major", execution: "sync", flavor: "last-resort" });

  let tick: object | undefined;
  const hook = createHook({
    init(_id, type, _trigger, resource) {
      if (type === "TickObject") tick = resource;
    },
  }).enable();
  process.nextTick(() => {});
  hook.disable();
  assert.notEqual(tick, kept.deref());
  assert.ok(haveSameShape(kept.deref(), tick));
});
