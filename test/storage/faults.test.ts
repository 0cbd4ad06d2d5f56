import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checksOf, type StoreFault } from "../../src/storage/faults.ts";
import { failsWith } from "../helpers/fails-with.ts";

const LOCKED: StoreFault = { part: "held", found: "the session 7 locks authserve.held", remedy: "end it" };

suite("the checks of a store's parts", () => {
  /** Checks with a clock and a trial of the test. */
  function open(faults: StoreFault[]) {
    const state = { trials: 0, now: 0, faults };
    const trial = async () => {
      state.trials++;
      return state.faults;
    };
    const { events, held } = checksOf(["events", "held"], trial, () => state.now);
    assert.ok(events && held);
    return { state, events, held };
  }

  test("that begin together share a trial", async () => {
    const { state, events, held } = open([]);
    await Promise.all([events(), held(), events()]);
    assert.equal(state.trials, 1);
  });

  test("fail only for the part of a fault, with its text and its remedy", async () => {
    const { events, held } = open([LOCKED]);
    await events();
    const { cause } = await failsWith("store_unavailable", held());
    assert.match(String(cause), /the session 7 locks authserve\.held: end it$/);
  });

  test("do not try again at once after a good trial, however often they are asked", async () => {
    const { state, events } = open([]);
    for (let asked = 0; asked < 100; asked++) await events();
    assert.equal(state.trials, 1);
    state.now += 1000;
    await events();
    assert.equal(state.trials, 2);
  });

  test("see the end of a fault at once", async () => {
    const { state, held } = open([LOCKED]);
    await failsWith("store_unavailable", held());
    state.faults = [];
    await held();
  });
});
