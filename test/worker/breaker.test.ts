import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type Breaker, createBreaker, type Permit } from "../../src/worker/breaker.ts";

const NOW = 1_800_000_000_000;

/** Makes so many attempts that do not reach the target. */
function fail(breaker: Breaker, times: number, now = NOW): void {
  for (let n = 0; n < times; n++) {
    const permit = breaker.begin(now);
    assert.ok(permit);
    breaker.end(permit, false, now);
  }
}

/** A breaker that has just opened, and what was told of it. */
function opened() {
  const changes: boolean[] = [];
  const breaker = createBreaker((isOpen) => changes.push(isOpen));
  fail(breaker, 5);
  return { breaker, changes };
}

suite("a breaker", () => {
  test("opens when five attempts in a row did not reach the target, and not before", () => {
    const breaker = createBreaker();
    fail(breaker, 4);
    assert.equal(breaker.places(NOW), Number.POSITIVE_INFINITY);
    breaker.end("attempt", true, NOW);
    fail(breaker, 4);
    assert.equal(breaker.begin(NOW), "attempt");
    breaker.end("attempt", false, NOW);
    assert.deepEqual([breaker.places(NOW), breaker.begin(NOW)], [0, null]);
  });

  test("lets one probe at a time through after a second", () => {
    const { breaker } = opened();
    assert.equal(breaker.probeAt(), NOW + 1000);
    assert.equal(breaker.begin(NOW + 999), null);
    assert.equal(breaker.places(NOW + 1000), 1);
    assert.equal(breaker.begin(NOW + 1000), "probe");
    assert.deepEqual([breaker.places(NOW + 5000), breaker.begin(NOW + 5000), breaker.probeAt()], [0, null, null]);
  });

  test("waits twice as long after each probe that fails, half a minute at most", () => {
    const { breaker } = opened();
    const waits: number[] = [];
    for (let now = NOW; waits.length < 7; ) {
      const at = breaker.probeAt() as number;
      waits.push(at - now);
      now = at;
      fail(breaker, 1, now);
    }
    assert.deepEqual(waits, [1000, 2000, 4000, 8000, 16_000, 30_000, 30_000]);
  });

  test("closes when a probe reaches the target, and needs five failures again", () => {
    const { breaker, changes } = opened();
    breaker.end(breaker.begin(NOW + 1000) as Permit, true, NOW + 1000);
    assert.deepEqual([breaker.places(NOW + 1000), breaker.probeAt()], [Number.POSITIVE_INFINITY, null]);
    fail(breaker, 4, NOW + 1000);
    assert.equal(breaker.begin(NOW + 1000), "attempt");
    assert.deepEqual(changes, [true, false]);
  });

  test("closes when an attempt that was under way reaches the target, and waits no longer for those that do not", () => {
    const { breaker } = opened();
    breaker.end("attempt", false, NOW + 500);
    assert.equal(breaker.probeAt(), NOW + 1000);
    breaker.end("attempt", true, NOW + 500);
    assert.equal(breaker.begin(NOW + 500), "attempt");
  });

  test("asks again when a probe has learnt nothing", () => {
    const { breaker } = opened();
    breaker.forget(breaker.begin(NOW + 1000) as Permit);
    assert.equal(breaker.begin(NOW + 1000), "probe");
  });
});
