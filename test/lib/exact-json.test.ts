import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { compareNumbers, ExactNumber, numberOf, parseExactJson } from "../../src/lib/exact-json.ts";
import { growsLinearly } from "../helpers/growth.ts";

const compare = (one: string, other: string) => Math.sign(compareNumbers(numberOf(one), numberOf(other)));

suite("exact numbers of JSON", () => {
  test("keep the digits of numbers that a double would round, and no others", () => {
    const text =
      '{"a":9007199254740993,"b":[0.1,12345678901234567.5],"c":1e400,"d":"9007199254740993","e":-0.0,"f":1e2}';
    assert.deepEqual(parseExactJson(text), {
      a: new ExactNumber("9007199254740993"),
      b: [0.1, new ExactNumber("12345678901234567.5")],
      c: new ExactNumber("1e400"),
      d: "9007199254740993",
      e: -0,
      f: 100,
    });
  });

  test("compare by value", () => {
    for (const [one, other, order] of [
      ["9007199254740993", "9007199254740992", 1],
      ["9007199254740993", "9007199254740993.0", 0],
      ["-9007199254740993", "-9007199254740992", -1],
      ["1e400", "1e401", -1],
      ["1e400", "10e399", 0],
      ["1e-400", "0", 1],
      ["0.10000000000000000001", "0.1", 1],
      ["100000000000000000000", "1e20", 0],
      ["-0", "0", 0],
      ["-1e-400", "0", -1],
    ] as const) {
      assert.deepEqual([compare(one, other) + 0, compare(other, one) + 0], [order, 0 - order], `${one} and ${other}`);
    }
  });

  test("compare as whole numbers do, whatever their size", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.bigInt(), (one, other) => {
        assert.equal(compare(String(one), String(other)), one < other ? -1 : one > other ? 1 : 0);
      }),
    );
  });

  test("take time in proportion to the text", () =>
    growsLinearly(100_000, (size) => {
      const texts = ["9".repeat(size), `1${"0".repeat(size)}1`, `0.${"0".repeat(size)}1`];
      const list = `[${"123456789012345,".repeat(size / 16)}1]`;
      return () => {
        for (const text of texts) compareNumbers(new ExactNumber(text), new ExactNumber(`${text}1`));
        parseExactJson(list);
      };
    }));
});
