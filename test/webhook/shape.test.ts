import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { SECRET, servedSource } from "../helpers/serve-source.ts";

const FORM = "application/x-www-form-urlencoded";
const LINES = "application/x-ndjson";
const TYPES = ["application/json", FORM, LINES];

const named = (count: number) => Array.from({ length: count }, (_, index) => `"${index}":1`).join();

suite("a body whose JSON has too many levels or values", () => {
  for (const [what, contentType, body, reason] of [
    ["JSON", "application/json", `{"a":${"[".repeat(1001)}${"]".repeat(1001)}}`, "too_deep"],
    ["broken JSON", "application/json", "[".repeat(1001), "too_deep"],
    ["JSON in a form", FORM, `payload=${"[".repeat(1001)}`, "too_deep"],
    ["JSON that is called a form", FORM, "[".repeat(1001), "too_deep"],
    ["JSON with too many items", "application/json", `[${"1,".repeat(120_001)}1]`, "too_many_values"],
    ["JSON with too many names", "application/json", `{${named(10_001)}}`, "too_many_names"],
    ["too many lines of JSON", LINES, "{}\n".repeat(120_001), "too_many_values"],
  ] as const)
    test(`is refused with its reason: ${what}`, async (context) => {
      const reasons: (string | undefined)[] = [];
      const { url, stored } = await servedSource(
        context,
        { contentTypes: TYPES, bodyLimitBytes: 2_000_000 },
        { onRefused: (_source, _code, refusedFor) => void reasons.push(refusedFor) },
      );
      const headers = { Authorization: SECRET, "Content-Type": contentType };
      const response = await fetch(url, { method: "POST", headers, body });
      assert.deepEqual([response.status, reasons, stored.length], [400, [reason], 0]);
      assert.match(
        await response.text(),
        /deeper than 1000 levels|more than 120000 values|more than 10000 different names/,
      );
    });

  test("is stored unread by a source that takes any bytes", async (context) => {
    const { url, stored } = await servedSource(context, { contentTypes: ["*/*"] });
    const headers = { Authorization: SECRET, "Content-Type": "application/json" };
    assert.equal((await fetch(url, { method: "POST", headers, body: "[".repeat(1001) })).status, 200);
    assert.equal(stored.length, 1);
  });

  test("is stored where it has no more than the limits", async (context) => {
    const { url, stored } = await servedSource(context, { bodyLimitBytes: 2_000_000 });
    const headers = { Authorization: SECRET, "Content-Type": "application/json" };
    const bodies = [
      `${"[".repeat(1000)}${"]".repeat(1000)}`,
      `[${"1,".repeat(119_998)}1]`,
      `{${named(10_000)}}`,
      `["${"[,:".repeat(120_000)}"]`,
    ];
    for (const body of bodies) assert.equal((await fetch(url, { method: "POST", headers, body })).status, 200);
    assert.equal(stored.length, 4);
  });
});
