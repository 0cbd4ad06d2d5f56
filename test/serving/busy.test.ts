import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createBusy } from "../../src/serving/busy.ts";
import { until } from "../helpers/until.ts";

/** Keeps the event loop at work. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

suite("a busy event loop", () => {
  test("is one that has been at work for more than a share of the time", async () => {
    const isBusy = createBusy(0.5);
    await delay(200);
    assert.equal(isBusy(), false);
    work(200);
    assert.equal(isBusy(), true);
    await delay(1000);
    work(100);
    assert.equal(isBusy(), false);
  });

  test("counts for as much of a core as it is told", async () => {
    const isBusy = createBusy(0.5);
    const isBusyAsOneOfMany = createBusy(0.02);
    await delay(1000);
    work(100);
    assert.deepEqual([isBusy(), isBusyAsOneOfMany()], [false, true]);
  });

  test("stays what it was for the first moments", async () => {
    // A test that is held up for longer than those tries again.
    await until(() => {
      const isBusy = createBusy(0.5);
      work(1);
      return !isBusy();
    });
    const isBusy = createBusy(0.5);
    work(30);
    assert.equal(isBusy(), true);
  });
});
