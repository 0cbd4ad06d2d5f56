import assert from "node:assert/strict";
import { test } from "node:test";
import type { JobDetail } from "../../src/events/store.ts";
import { waitingOf } from "../../src/events/waiting.ts";

const NOW = 1_800_000_000_000;

const job = (changes: Partial<JobDetail> = {}): JobDetail => ({
  route: "a",
  status: "queued",
  attempts: 0,
  probes: 0,
  replays: 0,
  attemptsOfBudget: 0,
  orderingKey: null,
  dueAt: NOW,
  leased: false,
  pausedAt: null,
  pausedUntil: null,
  earlier: null,
  lastError: null,
  deadLetter: null,
  discarded: null,
  history: [],
  ...changes,
});

const waits = (changes: Partial<JobDetail>, probeAt?: number | null) =>
  waitingOf(job(changes), probeAt === undefined ? [] : [{ route: "a", since: NOW - 10, probeAt }], NOW);

test("a job waits for its pause first, then for an earlier event, its target, its delay and a place", () => {
  const earlier = { source: "x", eventId: "e", status: "failed" } as const;
  assert.deepEqual(waits({ pausedAt: NOW - 5, earlier }, NOW), { reason: "paused", since: NOW - 5, until: null });
  const pause = { pausedAt: NOW - 5, pausedUntil: NOW + 1 };
  assert.deepEqual(waits(pause), { reason: "paused", since: NOW - 5, until: NOW + 1 });
  assert.deepEqual(waits({ ...pause, pausedUntil: NOW }), { reason: "due" });
  assert.deepEqual(waits({ earlier, dueAt: null }, NOW), { reason: "earlier_event", event: earlier });
  assert.deepEqual(waits({ dueAt: NOW + 7 }), { reason: "delay", until: NOW + 7 });
  assert.deepEqual(waits({}), { reason: "due" });
  assert.deepEqual(waits({ leased: true, pausedAt: NOW }), { reason: "running" });
  assert.equal(waits({ status: "failed" }), null);
});

test("a job of an unavailable target waits for the next probe, which is never past if the job is not due", () => {
  const until = (dueAt: number, probeAt: number | null) => {
    const waiting = waits({ dueAt }, probeAt);
    return waiting?.reason === "target_unavailable" ? waiting.until : undefined;
  };
  assert.equal(until(NOW, NOW + 5), NOW + 5);
  assert.equal(until(NOW + 9, NOW - 5), NOW + 9);
  assert.equal(until(NOW, null), null);
});
