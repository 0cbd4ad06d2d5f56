import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setImmediate as settled } from "node:timers/promises";
import { startClock } from "../../src/postgres/clock.ts";
import type { Postgres } from "../../src/postgres/connection.ts";

/** A database whose clock is `ahead` of the monotonic one, and that answers after some time. */
function createDatabase() {
  const state = { time: 1000, ahead: 1_000_000, answerMs: 10 };
  const rows = async () => {
    const now = state.time + state.ahead;
    state.time += state.answerMs;
    return [{ now }];
  };
  return { state, postgres: { rows } as unknown as Postgres, monotonic: () => state.time };
}

suite("the clock of the database", () => {
  test("is followed to within half of the time that its answer takes", async () => {
    const { state, postgres, monotonic } = createDatabase();
    const clock = await startClock(postgres, monotonic);
    assert.ok(Math.abs(clock.now() - (state.time + state.ahead)) <= 5);
    state.time += 3000;
    assert.ok(Math.abs(clock.now() - (state.time + state.ahead)) <= 5);
    clock.stop();
  });

  test("is not taken from an answer that came late, for example after this process was suspended", async (t) => {
    t.mock.timers.enable({ apis: ["setTimeout"] });
    const { state, postgres, monotonic } = createDatabase();
    const clock = await startClock(postgres, monotonic);
    const difference = () => Math.abs(clock.now() - (state.time + state.ahead));
    state.answerMs = 30_000;
    t.mock.timers.tick(10_000);
    await settled();
    assert.ok(difference() <= 5, String(difference()));
    state.answerMs = 10;
    state.ahead += 4000;
    t.mock.timers.tick(500);
    await settled();
    assert.ok(difference() <= 5, String(difference()));
    clock.stop();
  });
});
