import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { filterOf, filterQuery } from "../../../src/admin/page/events/filter.ts";
import { hashOf, parsePlace } from "../../../src/admin/page/place.ts";

suite("a place of the page", () => {
  test("is the overview without a hash", () => {
    for (const hash of ["", "#", "#/"]) assert.deepEqual(parsePlace(hash), { path: [], query: {} });
  });

  for (const id of ["evt_1", "a/b?c#d&e=f", "50%", "<script>", "ñ 🎉", "sha256:00ff", "%2F"]) {
    test(`can name the event ${id}`, () => {
      const query = { source: "a&b=c" };
      assert.deepEqual(parsePlace(hashOf(["events", id], query)), { path: ["events", id], query });
    });
  }

  test("keeps a part as it is if it is not encoded well", () => {
    assert.deepEqual(parsePlace("#/events/100%").path, ["events", "100%"]);
  });

  test("leaves out what has no value", () => {
    assert.equal(hashOf(["events"], { status: "failed", type: "", source: undefined }), "#/events?status=failed");
  });
});

suite("the filter of a list of events", () => {
  const NOW = Date.UTC(2026, 0, 31, 12);

  test("has the members of the address that have a value", () => {
    const query = { status: "failed", search: "order_1", live: "1", other: "x" };
    assert.deepEqual(filterOf(query, NOW), { status: "failed", search: "order_1" });
    assert.deepEqual(filterQuery(query), { status: "failed", search: "order_1" });
  });

  test("begins an hour ago for the range of an hour", () => {
    assert.deepEqual(filterOf({ range: "1h" }, NOW), { since: "2026-01-31T11:00:00.000Z" });
  });

  test("has only the times that can be read, and only in the custom range", () => {
    const times = { since: "2026-01-01T00:00:00Z", until: "soon" };
    assert.deepEqual(filterOf({ range: "custom", ...times }, NOW), { since: "2026-01-01T00:00:00.000Z" });
    assert.deepEqual(filterOf(times, NOW), {});
    assert.deepEqual(filterOf({ range: "toString" }, NOW), {});
  });
});
