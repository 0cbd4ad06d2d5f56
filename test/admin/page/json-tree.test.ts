import assert from "node:assert/strict";
import { suite, test } from "node:test";
import * as fc from "fast-check";
import { type JsonNode, parseJsonTree, sizeOf } from "../../../src/admin/page/json-tree.ts";

/** The value that a tree stands for, as `JSON.parse` gives it. */
function meaningOf(node: JsonNode): unknown {
  if (node.kind === "object")
    return Object.fromEntries(node.members.map(({ name, value }) => [name, meaningOf(value)]));
  if (node.kind === "array") return node.items.map(meaningOf);
  return node.kind === "string" ? node.text : JSON.parse(node.text);
}

suite("a payload as a tree", () => {
  for (const written of ["12345678901234567890", "1.10", "-0.0", "1E+2", "0.1000000000000000055511151231257827"]) {
    test(`keeps the number ${written} as written`, () => {
      assert.deepEqual(parseJsonTree(`[${written}]`), { kind: "array", items: [{ kind: "number", text: written }] });
    });
  }

  test("keeps members with the same name, in their order", () => {
    assert.deepEqual(parseJsonTree('{"a":1,"b":true,"a":null}'), {
      kind: "object",
      members: [
        { name: "a", value: { kind: "number", text: "1" } },
        { name: "b", value: { kind: "literal", text: "true" } },
        { name: "a", value: { kind: "literal", text: "null" } },
      ],
    });
  });

  test("takes brackets, quotes and backslashes within strings as text", () => {
    const text = String.raw`{"a]}\"":"[{\\","b":"\u0041"}`;
    assert.deepEqual(parseJsonTree(text), {
      kind: "object",
      members: [
        { name: 'a]}"', value: { kind: "string", text: "[{\\" } },
        { name: "b", value: { kind: "string", text: "A" } },
      ],
    });
  });

  for (const text of ["", "{", "{a:1}", "[1,]", "01", "plain text", "<html>"]) {
    test(`is refused for ${JSON.stringify(text)}, which is not JSON`, () => assert.equal(parseJsonTree(text), null));
  }

  test("is refused beyond 200 levels", () => {
    const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
    assert.notEqual(parseJsonTree(nested(200)), null);
    assert.equal(parseJsonTree(nested(5000)), null);
  });

  test("has the value of any JSON", () => {
    const check = fc.property(fc.json({ noUnicodeString: false }), (text) => {
      const tree = parseJsonTree(text);
      assert.ok(tree);
      assert.deepEqual(JSON.stringify(meaningOf(tree)), JSON.stringify(JSON.parse(text)));
    });
    void fc.assert(check, { numRuns: 300 });
  });

  test("counts what is directly in a value", () => {
    assert.equal(sizeOf(parseJsonTree('{"a":[1,2],"b":{}}') as JsonNode), 2);
    assert.equal(sizeOf(parseJsonTree("[[],[],[]]") as JsonNode), 3);
    assert.equal(sizeOf(parseJsonTree('"text"') as JsonNode), 0);
  });
});
