import assert from "node:assert/strict";
import { test } from "node:test";
import { mannWhitney } from "../../bench/auth-timing.ts";

const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);

test("two samples of the same values are not distinguished", () => {
  assert.ok(mannWhitney(range(0, 50), range(0, 50)) > 0.99);
  assert.equal(mannWhitney([1, 1, 1], [1, 1, 1]), 1);
});

test("two samples that do not overlap are distinguished, in either order", () => {
  assert.ok(mannWhitney(range(0, 30), range(100, 30)) < 1e-6);
  assert.equal(mannWhitney(range(0, 30), range(100, 30)), mannWhitney(range(100, 30), range(0, 30)));
});

test("a small case gives the result computed by hand", () => {
  // 8 and 8 values with one tie: U = 18.5, z = 1.3663 with the corrections for ties and continuity.
  const p = mannWhitney([1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8], [3.4, 4.5, 5.6, 6.7, 7.8, 8.9, 9.9, 5.5]);
  assert.ok(Math.abs(p - 0.17185) < 1e-4, String(p));
});
