import assert from "node:assert/strict";
import { test } from "node:test";
import { readRetryAfter } from "../../src/lib/retry-after.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

test("a Retry-After is seconds or a date, and else nothing", () => {
  for (const [value, expected] of [
    ["120", 120_000],
    ["1.5", 1500],
    ["0", 0],
    ["Thu, 01 Jan 2026 00:01:00 GMT", 60_000],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
    ["soon", undefined],
    [undefined, undefined],
  ] as const)
    assert.equal(readRetryAfter(value, NOW), expected);
});
