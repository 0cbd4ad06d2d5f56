import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createBusy } from "../../src/worker/pacing.ts";
import { until } from "../helpers/until.ts";
import { work } from "../helpers/work.ts";

/** Whether a loop is busy by a share of a second in which it is at work for so long, and rests for the remainder. */
async function isBusyAfter(workMs: number, ...shares: number[]): Promise<boolean[]> {
  const loops = shares.map(createBusy);
  await delay(1000 - workMs);
  work(workMs);
  return loops.map((isBusy) => isBusy());
}

// A machine that is held up makes a loop look as if it had been at work: then a test tries again.
suite("a busy event loop", () => {
  test("is one that has been at work for more than a share of the time", async () => {
    await until(async () => (await isBusyAfter(900, 0.5))[0] === true);
    await until(async () => (await isBusyAfter(100, 0.5))[0] === false);
  });

  test("is asked for the time since it was last asked", async () => {
    const isBusy = createBusy(0.5);
    work(100);
    assert.equal(isBusy(), true);
    await until(async () => {
      await delay(200);
      return !isBusy();
    });
  });

  test("counts for as much of a core as it is told", async () => {
    await until(async () => {
      const [alone, asOneOfMany] = await isBusyAfter(100, 0.5, 0.02);
      return alone === false && asOneOfMany === true;
    });
  });

  test("stays what it was for the first moments", async () => {
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
