import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createBusyCheck } from "../../src/worker/yield.ts";
import { work } from "../helpers/work.ts";

/** An event loop whose times the test sets. */
function loopOf() {
  const times = { active: 7000, idle: 3000 };
  return {
    measure: () => ({ ...times }),
    spend(active: number, idle: number) {
      times.active += active;
      times.idle += idle;
    },
  };
}

suite("a busy event loop", () => {
  test("is one that was active for more than a share of the time", () => {
    const { measure, spend } = loopOf();
    const isBusy = createBusyCheck(0.5, measure);
    spend(51, 49);
    assert.equal(isBusy(), true);
    spend(49, 51);
    assert.equal(isBusy(), false);
  });

  test("is measured since the last call", () => {
    const { measure, spend } = loopOf();
    const isBusy = createBusyCheck(0.5, measure);
    spend(1000, 0);
    assert.equal(isBusy(), true);
    spend(10, 90);
    assert.equal(isBusy(), false);
  });

  test("depends on the given share", () => {
    const { measure, spend } = loopOf();
    const [alone, asOneOfMany] = [createBusyCheck(0.5, measure), createBusyCheck(0.02, measure)];
    spend(10, 90);
    assert.deepEqual([alone(), asOneOfMany()], [false, true]);
  });

  test("keeps the last result for the first 20 ms", () => {
    const { measure, spend } = loopOf();
    const isBusy = createBusyCheck(0.5, measure);
    spend(19, 0);
    assert.equal(isBusy(), false);
    spend(1, 0);
    assert.equal(isBusy(), true);
    spend(0, 19);
    assert.equal(isBusy(), true);
  });

  test("is that of this thread", async () => {
    // An event loop has no times before its first turn.
    await new Promise(setImmediate);
    const isBusy = createBusyCheck(0.5);
    work(100);
    assert.equal(isBusy(), true);
  });
});
