import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { valueAt } from "../../src/lib/json-path.ts";

const VALUE = { data: { object: { currency: "eur", live: false, none: null } }, items: [{ id: 1 }, [2]], "": 3 };

suite("a path", () => {
  for (const [path, expected] of [
    ["data.object.currency", "eur"],
    ["data.object.live", false],
    ["data.object.none", null],
    ["data.object", VALUE.data.object],
    ["items.0.id", 1],
    ["items.1.0", 2],
    ["", 3],
  ] as const) {
    test(`${path} leads to a member`, () => assert.deepEqual(valueAt(VALUE, path), expected));
  }

  for (const path of ["data.none", "data.object.none.a", "data.object.currency.0", "items.2", "items.00", "data."]) {
    test(`${path} leads nowhere`, () => assert.equal(valueAt(VALUE, path), undefined));
  }

  test("leads to own members only", () => {
    for (const path of ["constructor", "__proto__", "data.toString", "items.length", "items.map"])
      assert.equal(valueAt(VALUE, path), undefined, path);
    assert.equal(valueAt(JSON.parse('{ "__proto__": { "a": 1 } }'), "__proto__.a"), 1);
  });
});
