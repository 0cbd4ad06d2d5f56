import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { spellingsOf } from "../../src/lib/spellings.ts";

suite("the spellings of a text", () => {
  for (const [text, spellings] of [
    ["maria", ["maria"]],
    ["maria@example.com", ["maria@example.com", "maria%40example.com"]],
    ["a b", ["a b", "a+b", "a%20b"]],
    ["José/7", ["José/7", "Jos%C3%A9%2F7", "Jos\\u00e9/7", "José\\/7", "Jos\\u00e9\\/7"]],
    ['"😀', ['"😀', "%22%F0%9F%98%80", '\\"😀', '\\"\\ud83d\\ude00']],
  ] as const)
    test(`of ${text} are ${spellings.length}`, () => {
      assert.deepEqual(spellingsOf(text), spellings);
    });
});
