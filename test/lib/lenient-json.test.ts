import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { bodyFault } from "../../src/lib/body-fault.ts";
import { readJsonLines, readLenientJson } from "../../src/lib/json.ts";
import { growsLinearly } from "../helpers/growth.ts";

suite("JSON is read as far as it can be", () => {
  for (const [what, bytes, charset, value, fault] of [
    ["as it should be", '{"a":1}', undefined, { a: 1 }, null],
    ["null", "null", undefined, null, null],
    ["with a byte order mark", "\ufeff[1]", undefined, [1], "starts with a byte order mark"],
    ["with a member twice, of which the last counts", '{"a":1,"a":2}', undefined, { a: 2 }, "has a member name twice"],
    [
      "with NaN, but not in a text",
      '{"a":NaN,"b":[-Infinity],"c":"NaN \\""}',
      undefined,
      { a: null, b: [null], c: 'NaN "' },
      "is not JSON",
    ],
    [
      "in Latin-1",
      Buffer.from('{"a":"\xe9"}', "latin1"),
      "iso-8859-1",
      { a: "é" },
      "is in the charset iso-8859-1, not in UTF-8",
    ],
    ["in a charset that nobody knows", '{"a":1}', "klingon", { a: 1 }, "is in the charset klingon, not in UTF-8"],
    ["that is no UTF-8", Buffer.from([0x22, 0xff, 0x22]), undefined, "\ufffd", "is not UTF-8"],
    ["that is none", "{'a':1}", undefined, undefined, "is not JSON"],
    ["that is empty", "", undefined, undefined, "is empty"],
  ] as const) {
    test(what, () => {
      assert.deepEqual(readLenientJson(Buffer.from(bytes as string), charset), { value, fault });
    });
  }

  test("in UTF-8, whatever charset is named", () => {
    for (const charset of ["utf-16le", "utf-16be", "shift_jis", "iso-2022-jp"]) {
      assert.deepEqual(readLenientJson(Buffer.from('{"a":"é"}'), charset).value, { a: "é" });
      assert.deepEqual(readLenientJson(Buffer.from('{"a":1,"a":"é"}'), charset).value, { a: "é" });
    }
  });

  test("with a string of any length", () => {
    const text = "x".repeat(9_000_000);
    assert.deepEqual(readLenientJson(Buffer.from(`[NaN,"${text}\n"]`)).value, [null, `${text}\n`]);
    assert.equal(readLenientJson(Buffer.from(`[NaN,"${text}`)).value, undefined);
  });

  test("unless very much would have to be corrected", () => {
    assert.deepEqual(readLenientJson(Buffer.from(`["${"\n".repeat(100_000)}"]`)).value, ["\n".repeat(100_000)]);
    assert.equal(readLenientJson(Buffer.from(`["${"\n".repeat(200_001)}"]`)).value, undefined);
  });

  test("in time that grows with its length only, whatever is in it", () => {
    for (const part of ['"', '\\"', '"\\', "NaN", "{"])
      growsLinearly(20_000, (size) => {
        const bytes = Buffer.from(part.repeat(size));
        return () => readLenientJson(bytes);
      });
  });
});

suite("JSON Lines", () => {
  test("are a list of their values", () => {
    assert.deepEqual(readJsonLines(Buffer.from('{"a":1}\r\n\n[2]\n')), { value: [{ a: 1 }, [2]], fault: null });
  });

  test("with a line that is no JSON are not read", () => {
    assert.deepEqual(readJsonLines(Buffer.from("1\nx")), { value: undefined, fault: "has a line that is not JSON" });
  });
});

suite("the fault of a body", () => {
  for (const [body, contentType, fault] of [
    ["{", "application/json", "is not JSON"],
    ["{}", "application/vnd.api+json; charset=utf-8", null],
    ["1\n2", "application/x-ndjson", null],
    ["x", "multipart/form-data; boundary=a", "is no well-formed multipart/form-data"],
    ["x", "text/plain", null],
    ["x", "", null],
  ] as const) {
    test(`${body} as ${contentType || "nothing"}: ${fault}`, () => {
      assert.equal(bodyFault(Buffer.from(body), contentType), fault);
    });
  }
});
