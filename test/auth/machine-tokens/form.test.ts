import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { basicTokensIn, isWellFormed, newToken, tokensIn } from "../../../src/auth/machine-tokens/form.ts";

suite("the form of a token", () => {
  test("has a prefix, 30 random characters and a checksum", () => {
    const tokens = Array.from({ length: 100 }, newToken);
    for (const token of tokens) {
      assert.match(token, /^ask_[0-9A-Za-z]{36}$/);
      assert.ok(isWellFormed(token));
    }
    assert.equal(new Set(tokens).size, tokens.length);
  });

  test("a scanner in another language finds the same checksum", () => {
    // Python: zlib.crc32(b"ask_" + b"0" * 30), in base62 with the digits 0-9A-Za-z.
    assert.ok(isWellFormed(`ask_${"0".repeat(30)}0rnHFh`));
  });

  test("any changed character is noticed", () => {
    const token = newToken();
    for (let at = "ask_".length; at < token.length; at++) {
      const other = token[at] === "x" ? "y" : "x";
      assert.ok(!isWellFormed(token.slice(0, at) + other + token.slice(at + 1)), `${at}`);
    }
    for (const text of ["", "ask_", token.slice(1), `${token}0`, `${token}\n`, token.toUpperCase(), `${token} `])
      assert.ok(!isWellFormed(text), JSON.stringify(text));
  });

  test("whatever begins with the prefix is found in a Bearer header, and nothing else", () => {
    const token = newToken();
    assert.deepEqual(tokensIn([`Bearer ${token}`]), [token]);
    assert.deepEqual(tokensIn([`bearer ${token}`, "Basic eA=="]), [token]);
    assert.deepEqual(tokensIn(["BEARER ask_x"]), ["ask_x"]);
    for (const value of [token, `Token ${token}`, `Bearer x${token}`, `Bearer ${"eyJ"}`, `Basic ${token}`, ""])
      assert.deepEqual(tokensIn([value]), [], value);
  });
});

suite("a token as the password of Basic", () => {
  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString("base64")}`;
  const token = newToken();

  test("is found with any user name", () => {
    for (const user of ["", "git", "ñandú", "a b"])
      assert.deepEqual(basicTokensIn([basic(`${user}:${token}`)]), [token]);
    assert.deepEqual(basicTokensIn([basic("me:ask_wrong").replace("Basic", "BASIC")]), ["ask_wrong"]);
  });

  test("is not found as the user name, in another form or in other passwords, which are the app's", () => {
    for (const value of [basic(`${token}:`), basic(token), basic(`me:x${token}`), basic("me:secret"), `Basic ${token}`])
      assert.deepEqual(basicTokensIn([value]), [], value);
    for (const value of ["Basic", "Basic ", "Basic !!!", `Bearer ${token}`, "Digest a"])
      assert.deepEqual(basicTokensIn([value]), [], value);
  });
});
