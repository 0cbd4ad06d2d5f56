import assert from "node:assert/strict";
import { test } from "node:test";
import { FORM, openContent } from "../../src/webhook/content.ts";

test("a form has the fields that a browser sends, also without an equals sign", () => {
  const text = "a=1&b&=c&d=&&e=f=g&%61=2&+h&b";
  const { form } = openContent(Buffer.from(text), FORM);
  assert.deepEqual([...form()], [...new URLSearchParams(text)]);
});

test("a form with very many names takes no long time", () => {
  const started = performance.now();
  assert.equal([...openContent(Buffer.from("a&".repeat(500_000)), FORM).form()].length, 500_000);
  assert.ok(performance.now() - started < 2000);
});
