import assert from "node:assert/strict";
import { suite, type TestContext, test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { repeat } from "../../src/lib/repeat.ts";

/** A repetition with time that the test moves, and whose turns end or fail when the test says so. */
function open(t: TestContext, options: Partial<Parameters<typeof repeat<number>>[1]> = {}) {
  t.mock.timers.enable({ apis: ["setTimeout"] });
  const turns: PromiseWithResolvers<number>[] = [];
  const errors: string[] = [];
  const turn = () => {
    turns.push(Promise.withResolvers());
    return turns.at(-1)?.promise as Promise<number>;
  };
  const repetition = repeat(turn, { everyMs: 1000, onError: (error) => errors.push(error), ...options });
  async function pass(ms: number): Promise<void> {
    t.mock.timers.tick(ms);
    await nextTurn();
  }
  return { ...repetition, turns, errors, pass };
}

suite("a repetition", () => {
  test("waits before each turn, also the first", async (t) => {
    const { turns, pass } = open(t);
    await pass(999);
    assert.equal(turns.length, 0);
    await pass(1);
    assert.equal(turns.length, 1);
  });

  test("begins at once if it is asked to", (t) => {
    assert.equal(open(t, { firstMs: 0 }).turns.length, 1);
  });

  test("never runs two turns at the same time", async (t) => {
    const { turns, pass } = open(t, { firstMs: 0 });
    await pass(10_000);
    assert.equal(turns.length, 1);
    turns[0]?.resolve(1);
    await pass(0);
    await pass(1000);
    assert.equal(turns.length, 2);
  });

  test("waits as long as the last turn says, and by default after a failed one", async (t) => {
    const { turns, pass } = open(t, { firstMs: 0, everyMs: (ms = 50) => ms });
    turns[0]?.resolve(7000);
    await pass(0);
    await pass(6999);
    assert.equal(turns.length, 1);
    await pass(1);
    turns[1]?.reject(new Error("down"));
    await pass(0);
    await pass(50);
    assert.equal(turns.length, 3);
  });

  test("goes on after an error, and reports it once until a turn succeeds", async (t) => {
    const { turns, errors, pass } = open(t);
    for (const error of ["down", "down", null, "down", "full"]) {
      await pass(1000);
      if (error === null) turns.at(-1)?.resolve(1);
      else turns.at(-1)?.reject(new Error(error));
      await pass(0);
    }
    assert.deepEqual(errors, ["down", "down", "full"]);
  });

  test("stops when the running turn has ended, and begins no other one", async (t) => {
    const { turns, pass, stop } = open(t, { firstMs: 0 });
    let isStopped = false;
    const stopping = stop().then(() => {
      isStopped = true;
    });
    await pass(1000);
    assert.equal(isStopped, false);
    turns[0]?.resolve(1);
    await stopping;
    await pass(10_000);
    assert.equal(turns.length, 1);
  });

  test("that waits stops at once", async (t) => {
    const { turns, pass, stop } = open(t);
    await stop();
    await pass(10_000);
    assert.equal(turns.length, 0);
  });

  test("does not keep the process alive", async (t) => {
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === "Timeout").length;
    const before = timers();
    const repetition = repeat(() => {}, { everyMs: 3_600_000, onError: () => {} });
    t.after(repetition.stop);
    assert.equal(timers(), before);
  });
});
