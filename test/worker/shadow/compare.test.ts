import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { differenceOf } from "../../../src/worker/shadow/compare.ts";

const answer = (body: string | Buffer, status = 200, isWhole = true) => ({ status, body: Buffer.from(body), isWhole });

const differing = (expected: string, found: string, ignore: string[] = []) =>
  differenceOf(answer(expected), answer(found), ignore);

suite("the answers of a route and its shadow", () => {
  test("differ in their status first", () => {
    const difference = { place: "status", expected: "200", found: "422" };
    assert.deepEqual(differenceOf(answer("a"), answer("b", 422)), difference);
    assert.equal(differenceOf(answer("", 204), answer("", 204)), null);
  });

  test("are compared by value if both are JSON", () => {
    assert.equal(differing('{"a":1,"b":[1.0,"x"]}', '{ "b": [1, "x"],\n "a": 1e0 }'), null);
    assert.equal(differing('{"id":12345678901234567890}', '{ "id": 12345678901234567890.0 }'), null);
    const big = { place: "body id", expected: "12345678901234567890", found: "12345678901234567891" };
    assert.deepEqual(differing('{"id":12345678901234567890}', '{"id":12345678901234567891}'), big);
    const list = differing('{"a":[1,{"b":"x"}]}', '{"a":[1,{"b":"y"}]}');
    assert.deepEqual(list, { place: "body a.1.b", expected: '"x"', found: '"y"' });
  });

  test("differ where a member is missing, or is of another kind", () => {
    assert.deepEqual(differing('{"a":1,"b":2}', '{"a":1}'), { place: "body b", expected: "2", found: "missing" });
    assert.deepEqual(differing('{"a":1}', '{"a":1,"b":null}'), { place: "body b", expected: "missing", found: "null" });
    assert.deepEqual(differing('{"a":[]}', '{"a":{}}'), { place: "body a", expected: "[]", found: "{}" });
    assert.deepEqual(differing('{"a":1}', '{"a":"1"}'), { place: "body a", expected: "1", found: '"1"' });
    assert.deepEqual(differing("[]", "null"), { place: "body", expected: "[]", found: "null" });
    assert.deepEqual(differing('{"__proto__":1}', '{ "__proto__": 2 }')?.place, "body __proto__");
  });

  test("may differ in what is ignored, with all that is below", () => {
    assert.equal(differing('{"requestId":"a","n":1}', '{"n":1,"requestId":{"b":2}}', ["requestId"]), null);
    assert.equal(differing('{"n":1,"requestId":"a"}', '{"n":1}', ["requestId"]), null);
    assert.equal(differing('{"a":[{"at":1},{"at":2}]}', '{"a":[{"at":3},{"at":4}]}', ["a.*.at"]), null);
    assert.equal(differing('{"a":{"id":1}}', '{"a":{"id":2}}', ["id"])?.place, "body a.id");
  });

  test("are compared by their bytes otherwise, and only the beginning of them is shown", () => {
    assert.deepEqual(differing("ok", "OK"), { place: "body", expected: '"ok"', found: '"OK"' });
    assert.deepEqual(differing("{}", "{"), { place: "body", expected: '"{}"', found: '"{"' });
    const [found] = [differing("a", "b".repeat(2000))?.found ?? ""];
    assert.ok(found.length < 90 && found.endsWith('…"'), found);
    assert.equal(differenceOf(answer(Buffer.from([255, 0])), answer(Buffer.from([255, 0]))), null);
  });

  test("are not compared if one is too long, and count as different if they are too deep", () => {
    assert.equal(differenceOf(answer("a"), answer("a", 200, false)), undefined);
    assert.equal(differenceOf(answer("a", 200, false), answer("b", 500))?.place, "status");
    const deep = (inner: string) => "[".repeat(30_000) + inner + "]".repeat(30_000);
    assert.equal(differing(deep("1"), deep("2"))?.place, "body");
  });
});
