import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { boundaryOf, formatMultipart, parseMultipart } from "../../src/lib/multipart.ts";
import { growsLinearly } from "../helpers/growth.ts";

const TYPE = 'multipart/form-data; charset=utf-8; boundary="a b"';
const FIELD = 'Content-Disposition: form-data; name="n"';

/** The parts of a body of these lines. */
function parts(lines: readonly string[], contentType = TYPE) {
  const found = parseMultipart(Buffer.from(lines.join("\r\n")), contentType);
  return found?.map(({ name, filename, bytes }) => [name, filename, bytes.toString()]);
}

suite("a body with several parts", () => {
  test("has fields and files", () => {
    const lines = [
      "--a b",
      FIELD,
      "",
      "line 1",
      "line 2",
      "--a b \t",
      'content-type: image/jpeg\r\ncontent-disposition: form-data; name="f"; filename="a;\\"b\\".jpg"',
      "",
      "\u0001",
      "--a b",
      "Content-Disposition:form-data;name=empty",
      "",
      "",
      "--a b--",
      "",
    ];
    const wanted = [
      ["n", undefined, "line 1\r\nline 2"],
      ["f", 'a;"b".jpg', "\u0001"],
      ["empty", undefined, ""],
    ];
    assert.deepEqual(parts(lines), wanted);
    assert.deepEqual(parts(["what precedes it", ...lines]), wanted);
  });

  test("may have no parts", () => assert.deepEqual(parts(["--a b--"]), []));

  test("is what its fields were", () => {
    const fields = [
      ["a", "1\r\n--x"],
      ["b", ""],
    ] as const;
    const body = Buffer.from(formatMultipart(fields, "xyz"));
    const found = parseMultipart(body, "multipart/form-data; boundary=xyz") ?? [];
    assert.deepEqual(
      found.map(({ name, bytes }) => [name, bytes.toString()]),
      fields,
    );
  });

  for (const [what, lines, contentType] of [
    ["without a boundary in its type", ["--a b", FIELD, "", "1", "--a b--"], "multipart/form-data"],
    ["without an end", ["--a b", FIELD, "", "1", ""]],
    ["that ends in its headers", ["--a b", FIELD]],
    ["without a delimiter", ["a=1"]],
    ["with text behind a delimiter", ["--a bc", FIELD, "", "1", "--a b--"]],
    ["with a part without a name", ["--a b", "Content-Disposition: form-data", "", "1", "--a b--"]],
    ["with a part with two names", ["--a b", `${FIELD}; name="m"`, "", "1", "--a b--"]],
    ["with a name that does not end", ["--a b", 'Content-Disposition: form-data; name="n', "", "1", "--a b--"]],
    ["with headers that are too long", ["--a b", `X: ${"x".repeat(8192)}`, FIELD, "", "1", "--a b--"]],
    ["with too many parts", [...Array.from({ length: 1001 }, () => ["--a b", FIELD, "", "1"]).flat(), "--a b--"]],
  ] as [string, string[], string?][]) {
    test(`is malformed ${what}`, () => assert.equal(parts(lines, contentType), undefined));
  }

  test("takes time in proportion to its size", () => {
    for (const piece of ["\r\n--a", "\r\n\r\n", '; name="', "--a b\r\n"]) {
      growsLinearly(20_000, (size) => {
        const body = Buffer.from(`--a b\r\n${FIELD}\r\n\r\n${piece.repeat(size)}`);
        return () => assert.equal(parseMultipart(body, TYPE), null);
      });
    }
  });
});

test("the boundary of a body is that of its first delimiter, if a header can name it", () => {
  for (const [text, boundary] of [
    ["--a b\r\nX: y", "a b"],
    ["\r\n--a \t\r\n", "a"],
    ["preamble\r\n--a\r\n--b\r\n", "a"],
    ["-----a--\r\n", "---a--"],
    ['--a"b\r\n', null],
    ["--a\\b\r\n", null],
    ["--a\u0001b\r\n", null],
    ["--é\r\n", null],
    [`--${"a".repeat(71)}\r\n`, null],
    ["--a", null],
    ["a=--b\r\n", null],
    ["", null],
  ] as const)
    assert.equal(boundaryOf(Buffer.from(text)), boundary, text);
});
