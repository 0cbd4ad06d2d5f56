import assert from "node:assert/strict";
import { test } from "node:test";
import { relativeTime } from "../../src/cli/time.ts";

const NOW = Date.UTC(2026, 10, 24);

for (const [distanceMs, words] of [
  [0, "0 s ago"],
  [59_999, "59 s ago"],
  [60_000, "1 min ago"],
  [3 * 3_600_000, "3 h ago"],
  [49 * 3_600_000, "2 d ago"],
  [-90_000, "in 1 min"],
] as const) {
  test(`${distanceMs} ms before now is ${words}`, () => assert.equal(relativeTime(NOW - distanceMs, NOW), words));
}
