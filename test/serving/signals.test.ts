import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Worker } from "node:worker_threads";
import { createSignals } from "../../src/serving/signals.ts";
import { until } from "../helpers/until.ts";

suite("signals between event loops and the worker", () => {
  test("add up what the newest commits of all loops left without an answer, for a moment", async () => {
    const signals = createSignals(3);
    assert.equal(signals.unanswered(), 0);
    // A test that is held up for longer than the moment tries again.
    await until(() => {
      signals.noteUnanswered(1, 20);
      signals.noteUnanswered(3, 1);
      signals.noteUnanswered(3, 5);
      return signals.unanswered() === 25;
    });
    await until(() => signals.unanswered() === 0);
  });

  test("ask for one word to the worker until it looks, whichever loop has stored something", () => {
    const signals = createSignals(2);
    const ofAnother = createSignals(signals.memory);
    assert.deepEqual([signals.noteStored(), ofAnother.noteStored(), signals.noteStored()], [true, false, false]);
    signals.noteLook();
    assert.deepEqual([ofAnother.noteStored(), signals.noteStored()], [true, false]);
  });

  test("reach other threads, whose clocks began at other times", async (t) => {
    const signals = createSignals(2);
    const module = JSON.stringify(new URL("../../src/serving/signals.ts", import.meta.url).href);
    const thread = new Worker(
      `import { workerData } from "node:worker_threads";
       const { createSignals } = await import(${module});
       const signals = createSignals(workerData);
       setInterval(() => signals.noteUnanswered(2, 40), 1);`,
      { eval: true, workerData: signals.memory },
    );
    t.after(() => thread.terminate());
    await until(() => signals.unanswered() === 40);
    await thread.terminate();
    await until(() => signals.unanswered() === 0);
  });
});
