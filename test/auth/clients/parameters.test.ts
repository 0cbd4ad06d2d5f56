import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { parameterFault, readParameters } from "../../../src/auth/clients/parameters.ts";

const NAMES = ["state", "scope", "code"];
const read = (text: string) => {
  const { isTooLarge, values, faults } = readParameters(text, NAMES);
  return isTooLarge ? "too large" : { ...Object.fromEntries(values), ...Object.fromEntries(faults) };
};

suite("parameters of a request", () => {
  for (const [what, text, expected] of [
    ["are decoded", "state=a+b%2Bc%C3%B1&scope=openid%20email", { state: "a b+cñ", scope: "openid email" }],
    ["keep equals signs of their values", "state=YQ==", { state: "YQ==" }],
    ["have names that may be encoded", "st%61te=x", { state: "x" }],
    ["without a value are missing", "state=&scope&code=x", { code: "x" }],
    [
      "that are unknown are ignored",
      "extra=foobar&__proto__=x&toString=y&resource=a&resource=b&%zz=1&state=x",
      { state: "x" },
    ],
    ["may be none", "", {}],
    ["that are repeated have no value", "state=x&scope=openid&state=x", { scope: "openid", state: "repeated" }],
    ["are repeated also in another spelling", "state=x&%73tate=y", { state: "repeated" }],
    ["are repeated also if one is empty", "state=&state=x", { state: "repeated" }],
    ["are repeated also if one is malformed", "state=%ff&state=x", { state: "repeated" }],
    ["must be UTF-8", "state=%ff", { state: "malformed" }],
    ["must have whole escapes", "state=100%", { state: "malformed" }],
    ["must have no control character", "state=a%00b&code=a%0Ab", { state: "malformed", code: "malformed" }],
    ["may have 4,096 characters", `state=${"x".repeat(4096)}`, { state: "x".repeat(4096) }],
    ["may not have more", `state=${"x".repeat(4097)}`, { state: "too_long" }],
    ["may be 100", `${"a=1&".repeat(99)}state=x`, { state: "x" }],
    ["may not be more", `${"a=1&".repeat(100)}state=x`, "too large"],
    ["may have 16 KiB together", `${"a".repeat(16_376)}&state=x`, { state: "x" }],
    ["may not have more together", `${"a".repeat(16_377)}&state=x`, "too large"],
  ] as const)
    test(what, () => assert.deepEqual(read(text), expected));

  for (const [text, found] of [
    ["state=x&state=y", /^state is there more than once$/],
    ["scope=%ff", /^scope cannot be decoded$/],
    [`code=${"x".repeat(5000)}`, /^code is too long$/],
    ["a&".repeat(101), /^the request is too large$/],
  ] as const)
    test(`have a fault that echoes no value: ${found.source}`, () =>
      assert.match(parameterFault(readParameters(text, NAMES))?.found ?? "", found));
});
