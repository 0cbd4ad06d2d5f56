import assert from "node:assert/strict";
import { test } from "node:test";
import { FORM, openContent } from "../../src/webhook/content.ts";
import { growsLinearly } from "../helpers/growth.ts";

test("a form has the fields that a browser sends, also without an equals sign", () => {
  const text = "a=1&b&=c&d=&&e=f=g&%61=2&+h&b";
  const { form } = openContent(Buffer.from(text), FORM);
  assert.deepEqual([...form()], [...new URLSearchParams(text)]);
});

test("the time for a form grows with its names, not with their square", () => {
  growsLinearly(5000, (names) => {
    const body = Buffer.from("a&".repeat(names));
    return () => assert.equal([...openContent(body, FORM).form()].length, names);
  });
});
