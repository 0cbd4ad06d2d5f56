import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createBusyCheck } from "../../src/worker/yield.ts";
import { until } from "../helpers/until.ts";
import { work } from "../helpers/work.ts";

/** Whether the loop is busy, for each share, in a second with so much work. */
async function isBusyAfter(workMs: number, ...shares: number[]): Promise<boolean[]> {
  const loops = shares.map(createBusyCheck);
  await delay(1000 - workMs);
  work(workMs);
  return loops.map((isBusy) => isBusy());
}

// On an overloaded machine an idle loop can look busy, so the tests retry.
suite("a busy event loop", () => {
  test("is one that was active for more than a share of the time", async () => {
    await until(async () => (await isBusyAfter(900, 0.5))[0] === true);
    await until(async () => (await isBusyAfter(100, 0.5))[0] === false);
  });

  test("is measured since the last call", async () => {
    const isBusy = createBusyCheck(0.5);
    work(100);
    assert.equal(isBusy(), true);
    await until(async () => {
      await delay(200);
      return !isBusy();
    });
  });

  test("depends on the given share", async () => {
    await until(async () => {
      const [alone, asOneOfMany] = await isBusyAfter(100, 0.5, 0.02);
      return alone === false && asOneOfMany === true;
    });
  });

  test("keeps the last result for the first milliseconds", async () => {
    await until(() => {
      const isBusy = createBusyCheck(0.5);
      work(1);
      return !isBusy();
    });
    const isBusy = createBusyCheck(0.5);
    work(30);
    assert.equal(isBusy(), true);
  });
});
