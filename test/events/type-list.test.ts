import assert from "node:assert/strict";
import { test } from "node:test";
import { typeList } from "../../src/events/type-list.ts";

test("a list of types takes what its entries name, and leaves out what they exclude", () => {
  for (const [list, taken, left] of [
    ["push", ["push"], ["pushed", "a push", ""]],
    ["invoice.*, charge.failed", ["invoice.paid", "invoice.", "charge.failed"], ["invoice", "charge.paid"]],
    ["*", ["", "push"], []],
    ["!push", ["pull"], ["push"]],
    ["invoice.*,!*.draft", ["invoice.paid"], ["invoice.draft", "other"]],
    ["a*b*b", ["abb", "a-b-b"], ["ab", "a-b-c", "bab"]],
    ["*.created", ["x.created"], ["x.created.y"]],
    ["a.c", ["a.c"], ["abc"]],
    ["", ["push", ""], []],
    ["push,", ["push"], [""]],
  ] as const) {
    const takes = typeList(list);
    assert.deepEqual([taken.filter((type) => !takes(type)), left.filter(takes)], [[], []], list);
  }
});
