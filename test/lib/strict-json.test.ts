import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parseStrictJson } from "../../src/lib/json.ts";
import { growsLinearly } from "../helpers/growth.ts";

const parse = (text: string) => parseStrictJson(Buffer.from(text, "utf8"));

function refused(input: string | Buffer, reason: RegExp): void {
  const result = typeof input === "string" ? parse(input) : parseStrictJson(input);
  assert.ok(!result.ok, "the input was accepted");
  assert.match(result.reason, reason);
}

suite("strict JSON accepts", () => {
  for (const text of [
    "null",
    "true",
    "-0",
    "1.5e-7",
    '"\\u00e9\\n\\/"',
    "[]",
    "{}",
    ' \t\r\n{"a":[1,{"b":null}]} \n',
    '{"a":{"x":1},"b":{"x":1}}',
    '[{"x":1},{"x":1}]',
    '{"":1}',
    '{"a:b":"c:d","{":"}","[":"]"}',
    '{"a\\"":1,"a\\\\":2}',
    '"\\\\"',
    '{"日本":"語","é":"\u{1f600}"}',
    '{"1":1,"01":2,"1.0":3}',
  ]) {
    test(text, () => {
      const result = parse(text);
      assert.ok(result.ok);
      assert.deepEqual(result.value, JSON.parse(text));
    });
  }

  test("a view into a larger buffer", () => {
    const bytes = Buffer.from('xx{"a":1}yy');
    assert.deepEqual(parseStrictJson(bytes.subarray(2, 9)), { ok: true, value: { a: 1 } });
  });
});

suite("strict JSON refuses what is not JSON:", () => {
  for (const text of [
    "",
    " ",
    "{",
    "}",
    "[",
    "]",
    "[1",
    "[1,",
    "[1,]",
    "[,1]",
    "[1,,2]",
    "[1 2]",
    "[1]]",
    "[1]x",
    "[][]",
    '["a" : 1]',
    '["a", 1',
    "[1:2]",
    "[*]",
    "[a]",
    "[-]",
    "[+1]",
    "[01]",
    "[-01]",
    "[.5]",
    "[1.]",
    "[1.e1]",
    "[1e]",
    "[1e+]",
    "[0x1]",
    "[1_000]",
    "[NaN]",
    "[Infinity]",
    "[-Infinity]",
    "[undefined]",
    "[True]",
    "[nul]",
    "[truee]",
    "['a']",
    '["a]',
    '["\\"]',
    '["\\x00"]',
    '["\\u00"]',
    '["\\u00g0"]',
    '["\\a"]',
    '["\\',
    '["a\nb"]',
    '["a\tb"]',
    '["a\u0000b"]',
    '["a\u001fb"]',
    '{"a":1,}',
    '{,"a":1}',
    '{"a"}',
    '{"a":}',
    '{"a" 1}',
    '{"a"::1}',
    '{"a":1 "b":2}',
    '{"a":1,,"b":2}',
    "{a:1}",
    "{'a':1}",
    "{1:1}",
    "{[]:1}",
    "{null:1}",
    '{"a":1}}',
    '{"a":1}{"b":2}',
    '{"a":/*c*/1}',
    '{"a":1}//c',
    '{"a":1}#',
    "<null>",
    "\u00a0[]",
    "\u2060[]",
    "[\u000b1]",
    "\f[]",
    "[1]\u0000",
    "a\u00e5",
    "1 2",
    '"a" "b"',
    '"',
    "\\",
    "{]",
    "[}",
    "]]]][[[[",
  ]) {
    test(JSON.stringify(text), () => refused(text, /is not JSON/));
  }
});

suite("strict JSON refuses a member name written twice", () => {
  for (const [where, text] of [
    ["at the top", '{"a":1,"a":1}'],
    ["with another value", '{"a":1,"b":2,"a":3}'],
    ["in an inner object", '{"o":{"a":1,"a":2}}'],
    ["in an object in an array", '[0,[{"a":1,"a":2}]]'],
    ["with objects as values", '{"a":{"x":1},"a":{"x":1,"y":2}}'],
    ["once with an escape", '{"a":1,"\\u0061":2}'],
    ["with two spellings of a slash", '{"/":1,"\\/":2}'],
    ["with an upper and a lower-case escape", '{"\\u00e9":1,"\\u00E9":2}'],
    ["as a surrogate pair and as itself", '{"\\ud83d\\ude00":1,"\u{1f600}":2}'],
    ["that is empty", '{"":1,"":2}'],
    ["that is __proto__", '{"__proto__":1,"__proto__":2}'],
    ["that is a number", '{"1":1,"1":2}'],
    ["beside a colon in a text", '{"a":"::","a":1}'],
  ] as const) {
    test(where, () => refused(text, /member name twice/));
  }
});

suite("strict JSON", () => {
  test("keeps names that differ in case, form or space apart", () => {
    assert.ok(parse('{"a":1,"A":2,"a ":3,"\u00e9":4,"e\u0301":5}').ok);
  });

  test("makes __proto__ an own member and changes no prototype", () => {
    const result = parse('{"__proto__":{"admin":true}}');
    assert.ok(result.ok);
    assert.ok(Object.hasOwn(result.value as object, "__proto__"));
    assert.equal(({} as { admin?: boolean }).admin, undefined);
  });

  test("refuses a byte order mark", () => refused("\ufeff{}", /byte order mark/));

  for (const [what, bytes] of [
    ["a lone continuation byte", [0x22, 0x80, 0x22]],
    ["an overlong slash", [0x22, 0xc0, 0xaf, 0x22]],
    ["an encoded surrogate", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["a code point above U+10FFFF", [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ["a cut sequence", [0x22, 0xe2, 0x82, 0x22]],
    ["UTF-16 with its mark", [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
    ["Latin-1", [0x22, 0xe9, 0x22]],
  ] as const) {
    test(`refuses ${what}`, () => refused(Buffer.from(bytes), /is not UTF-8/));
  }

  test("refuses UTF-16 without its mark", () => refused(Buffer.from("{}", "utf16le"), /is not JSON/));

  test("accepts the deepest nesting allowed and refuses one level more", () => {
    assert.ok(parse("[".repeat(64) + "]".repeat(64)).ok);
    refused("[".repeat(65) + "]".repeat(65), /deeper than 64/);
    assert.ok(parse(`${'{"a":['.repeat(32)}1${"]}".repeat(32)}`).ok);
    refused(`${'{"a":['.repeat(32)}[]${"]}".repeat(32)}`, /deeper than 64/);
  });

  test("does not count brackets in texts as nesting", () => {
    assert.ok(parse(`["${"[{".repeat(500)}","\\"[["]`).ok);
  });

  for (const [what, textOf, reason] of [
    ["doubled names", (n) => `{${Array.from({ length: n }, () => '"a":1').join()}}`, /twice/],
  ] as [string, (n: number) => string, RegExp][]) {
    test(`refuses any number of ${what} in a time that does not grow with its square`, () => {
      growsLinearly(12_500, (n) => {
        const text = textOf(n);
        return () => refused(text, reason);
      });
    });
  }

  test("never includes the input in its reason", () => {
    for (const text of ['{"secret-word":', '{"secret-word":1,"secret-word":2}', '\ufeff"secret-word"']) {
      const result = parse(text);
      assert.ok(!result.ok && !result.reason.includes("secret"), text);
    }
  });
});
