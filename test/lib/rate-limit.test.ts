import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createRateLimit } from "../../src/lib/rate-limit.ts";

suite("a rate limit", () => {
  test("without a rate allows any number", () => {
    assert.equal(createRateLimit(null).available(0), Number.POSITIVE_INFINITY);
  });

  test("allows a tenth of a second's attempts at once, and then as many as the rate", () => {
    const limit = createRateLimit(100);
    assert.equal(limit.available(0), 10);
    limit.take(10, 0);
    assert.deepEqual([limit.available(9), limit.nextAt(9), limit.available(10), limit.available(25)], [0, 10, 1, 2]);
    assert.equal(limit.available(60_000), 10, "a pause saves up no more");
  });

  test("spaces attempts evenly if the rate is low", () => {
    const limit = createRateLimit(0.5);
    const startedAt: number[] = [];
    for (let now = 0; now <= 6000; now += 100) {
      if (limit.available(now) < 1) continue;
      limit.take(1, now);
      startedAt.push(now);
    }
    assert.deepEqual(startedAt, [0, 2000, 4000, 6000]);
  });

  test("keeps what was not used for the time of a burst", () => {
    const limit = createRateLimit(1, { burstSeconds: 60 });
    limit.take(60, 0);
    assert.deepEqual([limit.available(0), limit.available(10_000), limit.available(600_000)], [0, 10, 60]);
  });

  test("follows the share of this server as it changes", () => {
    let share = 0;
    const limit = createRateLimit(100, { share: () => share });
    assert.deepEqual([limit.available(0), limit.nextAt(0)], [0, 1000]);
    share = 0.5;
    assert.deepEqual([limit.available(20), limit.nextAt(0)], [1, 0]);
    assert.equal(limit.available(60_000), 5);
    share = 0;
    assert.equal(limit.available(60_001), 0);
  });

  test("goes on after the clock was set back", () => {
    const limit = createRateLimit(10);
    limit.take(1, 10_000);
    assert.equal(limit.available(5000), 0);
    assert.equal(limit.available(5100), 1);
  });
});
