import assert from "node:assert/strict";
import { test } from "node:test";
import { afterAttempt, afterExpiredLease, LEASE_EXPIRED } from "../../src/events/attempt-end.ts";
import { NOW } from "../helpers/events.ts";

test("a job whose lease has expired is queued with the delay of its attempt, and failed after the last one", () => {
  const after = (attempt: number) => afterExpiredLease(attempt, { retryDelaysMs: [10, 20], blocks: true, now: NOW });
  assert.deepEqual(after(1), { to: "queued", runAt: NOW + 10 });
  assert.deepEqual(after(2), { to: "queued", runAt: NOW + 20 });
  assert.deepEqual(after(3), { to: "failed", reason: LEASE_EXPIRED, blocks: true });
});

test("the end of an attempt keeps a job in line while it is queued, or failed and blocking", () => {
  for (const [next, expected] of [
    [{ to: "processed" }, { status: "processed", dueAt: null, isFree: false, isProbe: false, staysInLine: false }],
    [
      { to: "queued", runAt: NOW },
      { status: "queued", dueAt: NOW, isFree: false, isProbe: false, staysInLine: true },
    ],
    [
      { to: "queued", runAt: NOW, isFree: true },
      { status: "queued", dueAt: NOW, isFree: true, isProbe: false, staysInLine: true },
    ],
    [
      { to: "queued", runAt: NOW, isFree: true, isProbe: true },
      { status: "queued", dueAt: NOW, isFree: true, isProbe: true, staysInLine: true },
    ],
    [
      { to: "failed", reason: "x" },
      { status: "failed", dueAt: null, isFree: false, isProbe: false, staysInLine: false },
    ],
    [
      { to: "failed", reason: "x", blocks: true },
      { status: "failed", dueAt: null, isFree: false, isProbe: false, staysInLine: true },
    ],
  ] as const)
    assert.deepEqual(afterAttempt(next), expected);
});
