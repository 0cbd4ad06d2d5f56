import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { decide, type RetryPolicy, retryDelayMs } from "../../src/worker/decide.ts";

const POLICY: RetryPolicy = { attempts: 5, backoff: "exponential", delayMs: 1000, maxDelayMs: 86_400_000, jitter: 0.2 };
const NOW = 1_800_000_000_000;
const MIDDLE = 0.5;

suite("the wait before a retry", () => {
  test("doubles when it is exponential", () => {
    const delays = [1, 2, 3, 4].map((failed) => retryDelayMs(POLICY, failed, MIDDLE));
    assert.deepEqual(delays, [1000, 2000, 4000, 8000]);
  });

  test("stays when it is linear", () => {
    const policy: RetryPolicy = { ...POLICY, backoff: "linear", delayMs: 30_000, maxDelayMs: 86_400_000 };
    const delays = [1, 2, 3].map((failed) => retryDelayMs(policy, failed, MIDDLE));
    assert.deepEqual(delays, [30_000, 30_000, 30_000]);
  });

  test("is that of the list, with its jitter", () => {
    const policy: RetryPolicy = { attempts: 4, backoff: "list", delaysMs: [10, 1000, 70], jitter: 0.1 };
    assert.deepEqual(
      [1, 2, 3, 4].map((failed) => retryDelayMs(policy, failed, MIDDLE)),
      [10, 1000, 70, 70],
    );
    assert.equal(retryDelayMs(policy, 2, 0), 900);
  });

  test("never exceeds the policy's maximum", () => {
    const policy: RetryPolicy = { ...POLICY, maxDelayMs: 5000 };
    assert.deepEqual(
      [3, 4, 50].map((failedAttempts) => retryDelayMs(policy, failedAttempts, MIDDLE)),
      [4000, 5000, 5000],
    );
    assert.equal(retryDelayMs(policy, 4, 0.999_999), 5000);
  });

  test("varies at most by the jitter, either way", () => {
    assert.equal(retryDelayMs(POLICY, 1, 0), 800);
    assert.ok(retryDelayMs(POLICY, 1, 0.999_999) <= 1200);
    assert.ok(retryDelayMs(POLICY, 1, 0.999_999) >= 1199);
    assert.equal(retryDelayMs({ ...POLICY, jitter: 0 }, 1, 0), 1000);
    assert.equal(retryDelayMs({ ...POLICY, jitter: 1 }, 40, 0.999_999), 24 * 3_600_000);
  });

  test("is a whole number of milliseconds, never negative or above a day plus jitter", () => {
    for (const failed of [1, 10, 100, 2000]) {
      for (const random of [0, 0.3, 0.999]) {
        const delay = retryDelayMs({ ...POLICY, jitter: 1 }, failed, random);
        assert.ok(Number.isSafeInteger(delay) && delay >= 0 && delay <= 2 * 86_400_000, String(delay));
      }
    }
  });
});

suite("an attempt", () => {
  const failed = { kind: "failed", error: "no" } as const;
  const interrupted = { kind: "interrupted", error: "the server stopped" } as const;
  const at = (attemptOfBudget: number, receivedAt = NOW - 60_000) => ({
    attemptOfBudget,
    receivedAt,
    isProbe: false,
    blocks: false,
  });
  const probe = (attemptOfBudget: number) => ({ ...at(attemptOfBudget), isProbe: true });

  test("that succeeded makes its job processed, even if it is the last one", () => {
    for (const attempt of [1, 5]) {
      assert.deepEqual(decide({ kind: "succeeded" }, at(attempt), POLICY, NOW, MIDDLE), { to: "processed" });
    }
  });

  test("that failed queues its job again after the wait", () => {
    assert.deepEqual(decide(failed, at(1), POLICY, NOW, MIDDLE), { to: "queued", runAt: NOW + 1000 });
    assert.deepEqual(decide(failed, at(4), POLICY, NOW, 0), { to: "queued", runAt: NOW + 6400 });
  });

  test("without a file descriptor waits like a failed one and is free, even if it is the last one", () => {
    const outOfDescriptors = { kind: "unable", error: "EMFILE" } as const;
    for (const [attempt, wait] of [
      [1, 1000],
      [5, 16_000],
    ] as const) {
      const next = decide(outOfDescriptors, at(attempt), POLICY, NOW, MIDDLE);
      assert.deepEqual(next, { to: "queued", runAt: NOW + wait, isFree: true });
    }
  });

  test("whose event cannot be sent makes its job a dead letter, also as the first one of many", () => {
    const next = decide({ kind: "unsendable", error: "no" }, { ...at(1), blocks: true }, POLICY, NOW, MIDDLE);
    assert.deepEqual(next, { to: "failed", reason: "attempt 1, not retried: no", blocks: true });
  });

  test("that failed as the last one makes its job a dead letter, with the reason", () => {
    // The policy may have allowed more before.
    for (const attempt of [5, 6]) {
      const next = decide(failed, at(attempt), POLICY, NOW, MIDDLE);
      assert.deepEqual(next, { to: "failed", reason: `attempt ${attempt} of ${attempt}: no`, blocks: false });
    }
    assert.equal(decide(failed, at(1), { ...POLICY, attempts: 1 }, NOW, MIDDLE).to, "failed");
  });

  test("that was interrupted queues its job before those of newer events and is free", () => {
    for (const attempt of [1, 5, 6]) {
      const next = decide(interrupted, at(attempt), POLICY, NOW, MIDDLE);
      assert.deepEqual(next, { to: "queued", runAt: NOW - 60_000, isFree: true });
    }
    // If the clock was set back, the job is due now.
    const ahead = decide(interrupted, at(1, NOW + 60_000), POLICY, NOW, MIDDLE);
    assert.deepEqual(ahead, { to: "queued", runAt: NOW, isFree: true });
  });

  test("that failed as the last one of a route that blocks keeps the later jobs of its key waiting", () => {
    const next = decide(failed, { ...at(5), blocks: true }, POLICY, NOW, MIDDLE);
    assert.deepEqual(next, { to: "failed", reason: "attempt 5 of 5: no", blocks: true });
  });

  test("that got a status of giveUpOn is the last one, unless the status is excluded", () => {
    const giveUpOn = [
      { from: 400, to: 499, isExcluded: false },
      { from: 429, to: 429, isExcluded: true },
    ];
    const next = (status: number) => decide({ ...failed, status }, at(1), { ...POLICY, giveUpOn }, NOW, MIDDLE);
    assert.deepEqual(next(400), { to: "failed", reason: "attempt 1, giveUpOn: no", blocks: false });
    assert.deepEqual(
      [429, 500].map((status) => next(status).to),
      ["queued", "queued"],
    );
    assert.equal(decide(failed, at(1), { ...POLICY, giveUpOn }, NOW, MIDDLE).to, "queued", "no answer");
  });

  test("that failed with Retry-After waits at least that long, up to a day", () => {
    const busy = (retryAfterMs: number) => ({ ...failed, isUnavailable: true, retryAfterMs });
    assert.deepEqual(decide(busy(90_000), at(1), POLICY, NOW, MIDDLE), { to: "queued", runAt: NOW + 90_000 });
    assert.deepEqual(decide(busy(10), at(1), POLICY, NOW, MIDDLE), { to: "queued", runAt: NOW + 1000 });
    const day = 24 * 3_600_000;
    assert.deepEqual(decide(busy(30 * day), at(1), POLICY, NOW, MIDDLE), { to: "queued", runAt: NOW + day });
  });

  test("that was a failed probe is free, even if it is the last one", () => {
    const unavailable = { ...failed, isUnavailable: true };
    for (const attempt of [1, 5, 6]) {
      const next = decide(unavailable, probe(attempt), { ...POLICY, backoff: "linear" }, NOW, MIDDLE);
      assert.deepEqual(next, { to: "queued", runAt: NOW + 1000, isFree: true, isProbe: true });
    }
    assert.equal(decide(failed, probe(5), POLICY, NOW, MIDDLE).to, "failed", "the event's own failure");
    assert.equal(decide(unavailable, at(5), POLICY, NOW, MIDDLE).to, "failed", "no probe");
  });
});
