import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { printJson } from "../../src/cli/output.ts";

/** The chunks that printJson writes. */
function printed(t: TestContext, value: unknown, isTTY: boolean): string[] {
  const had = process.stdout.isTTY;
  const pieces: string[] = [];
  const { mock } = t.mock.method(process.stdout, "write", (text: string) => pieces.push(text) > 0);
  process.stdout.isTTY = isTTY;
  try {
    printJson(value);
  } finally {
    process.stdout.isTTY = had;
    mock.restore();
  }
  return pieces;
}

for (const isTTY of [false, true]) {
  test(`characters that a terminal shows otherwise are escaped in JSON, isTTY=${isTTY}`, (t) => {
    const value = "a\u202eb\u2066c\u200f\u2028\u2029\u200b\ufeff\u00ad\u009b\u007f\u{e0041}ñ漢😀";
    const text = printed(t, [value], isTTY).join("");
    assert.deepEqual(JSON.parse(text), [value]);
    assert.doesNotMatch(text, /[\p{Cf}\p{Zl}\p{Zp}\u007f-\u009f]/u);
    assert.ok(text.includes("\\u202eb") && text.includes("\\udb40\\udc41ñ漢😀"));
  });

  test(`an array is printed as JSON, isTTY=${isTTY}`, (t) => {
    for (const count of [0, 1, 999, 1000, 1001, 2000, 2500]) {
      const values = Array.from({ length: count }, (_, n) => ({ n, of: ["[\n]", []] }));
      assert.equal(printed(t, values, isTTY).join(""), `${JSON.stringify(values, null, isTTY ? 2 : 0)}\n`);
    }
  });

  test(`a long array is printed in chunks, each far below the longest possible string, isTTY=${isTTY}`, (t) => {
    const values = Array.from({ length: 10_000 }, () => "x".repeat(100));
    assert.ok(printed(t, values, isTTY).every(({ length }) => length < 200_000));
  });
}
