import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { canonicalEmail, isEmail } from "../../src/auth/user.ts";
import { growsLinearly } from "../helpers/growth.ts";

suite("an e-mail address", () => {
  for (const text of [
    "demo@example.com",
    "a@b",
    "first.last+tag@sub.example.co",
    "o'brien!#$%&*/=?^_`{|}~-@example.com",
    ".dots..anywhere.@example.com",
    "demo@127.0.0.1",
    `${"a".repeat(242)}@example.com`,
  ]) {
    test(`may be ${text.slice(0, 40)}`, () => assert.equal(isEmail(text), true));
  }

  for (const text of [
    "",
    "demo",
    "@example.com",
    "demo@",
    "demo@example..com",
    "demo@-example.com",
    "demo@example-.com",
    "demo@example.com.",
    "demo@exa mple.com",
    " demo@example.com",
    "demo@example.com ",
    "a@b,c@d",
    "a@b\r\nBcc: c@d",
    "a@b\n",
    '"a b"@c',
    "a@[127.0.0.1]",
    "a@b@c",
    "<a@b>",
    "a\u0000@b",
    "démo@example.com",
    "demo@exämple.com",
    "demo\uff20example.com",
    `demo@${"a".repeat(64)}.com`,
    `${"a".repeat(243)}@example.com`,
  ]) {
    test(`is not ${JSON.stringify(text).slice(0, 40)}`, () => assert.equal(isEmail(text), false));
  }

  test("is refused without a search through it when it is long", () => {
    growsLinearly(10_000, (pairs) => {
      const text = `a@${"a-".repeat(pairs)}`;
      return () => assert.equal(isEmail(text), false);
    });
  });
});

suite("two spellings of an e-mail address", () => {
  test("are the same in upper and lower case", () => {
    assert.equal(canonicalEmail("Demo@EXAMPLE.com"), canonicalEmail("demo@example.COM"));
  });

  test("are the same in NFC and NFD", () => {
    assert.equal(canonicalEmail("d\u00e9mo@example.com"), canonicalEmail("de\u0301mo@example.com"));
  });

  test("differ when their tags do", () => {
    assert.notEqual(canonicalEmail("demo+a@example.com"), canonicalEmail("demo+b@example.com"));
  });
});
