import assert from "node:assert/strict";
import { test } from "node:test";
import { nearest } from "../../src/lib/nearest.ts";

test("the nearest known name is one or two edits away, and swapped neighbours are one", () => {
  const known = ["default", "stripe", "shop", "send-test"];
  for (const [text, found] of [
    ["defualt", "default"],
    ["stirpe", "stripe"],
    ["shpo", "shop"],
    ["stripes", "stripe"],
    ["tsirpe", undefined],
    ["paypal", undefined],
  ] as const)
    assert.equal(nearest(text, known), found);
});
