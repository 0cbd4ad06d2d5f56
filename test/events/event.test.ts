import assert from "node:assert/strict";
import { test } from "node:test";
import { MOVES, STATUSES } from "../../src/events/event.ts";

const targets = (moves: Record<string, string>) => [...new Set(Object.values(moves))].sort();

test("every status has its moves, and every move leads to a status", () => {
  assert.deepEqual(Object.keys(MOVES).sort(), [...STATUSES].sort());
  for (const moves of Object.values(MOVES)) {
    for (const target of Object.values(moves)) assert.ok(STATUSES.includes(target));
  }
});

test("what is queued may end either way or be tried again", () => {
  assert.deepEqual(targets(MOVES.queued), ["failed", "processed", "queued"]);
});

test("what has ended leaves its status by a replay alone", () => {
  assert.deepEqual(MOVES.processed, { replay: "queued" });
  assert.deepEqual(MOVES.failed, { replay: "queued" });
});
