import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { Worker } from "node:worker_threads";
import { takeCollector } from "../src/collect-garbage.ts";

const TIMES = 300;
const THREADS = 3;

test("threads that take their collectors at the same time all get them", async () => {
  const take = `
    import(${JSON.stringify(new URL("../src/collect-garbage.ts", import.meta.url).href)}).then(({ takeCollector }) => {
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
