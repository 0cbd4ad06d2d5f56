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
    ["99999999999", 99_999_999_999_000],
    // RFC 9110, 5.6.7: recipients read the obsolete forms too. That of asctime names no zone.
    ["Thursday, 01-Jan-26 00:01:00 GMT", 60_000],
    ["Thu Jan  1 00:01:00 2026", 60_000],
    ["soon", undefined],
    [undefined, undefined],
  ] as const)
    assert.equal(readRetryAfter(value, NOW), expected);
});
