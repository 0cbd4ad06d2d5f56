import assert from "node:assert/strict";
import { test } from "node:test";
import { createSignToken, createVerifyToken } from "../../src/auth/token.ts";
import { JWT_SECRET, OTHER_JWT_SECRET } from "../helpers/credentials.ts";

const IAT = 1_800_000_000;

function sign(sid: string, secret = JWT_SECRET): Promise<string> {
  return createSignToken(secret)({ sub: "1", email: "owner@example.com", sid, iat: IAT, exp: IAT + 900 });
}

test("the times of a cached token are still checked", async () => {
  const verify = createVerifyToken([JWT_SECRET]);
  const token = await sign("a");
  assert.equal(verify(token, IAT - 1), null);
  assert.equal(verify(token, IAT)?.sid, "a");
  assert.equal(verify(token, IAT + 899)?.sid, "a");
  assert.equal(verify(token, IAT + 900), null);
  assert.equal(verify(token, IAT - 1), null);
});

test("a token that differs from a cached one in one character is refused", async () => {
  const verify = createVerifyToken([JWT_SECRET]);
  const token = await sign("a");
  assert.notEqual(verify(token, IAT), null);
  for (const index of [0, 20, token.indexOf(".") + 5, token.length - 2, token.length - 1]) {
    const other = token[index] === "A" ? "B" : "A";
    assert.equal(verify(token.slice(0, index) + other + token.slice(index + 1), IAT), null, String(index));
  }
});

test("verifiers with different secrets share no cache", async () => {
  const token = await sign("a");
  assert.notEqual(createVerifyToken([JWT_SECRET])(token, IAT), null);
  assert.equal(createVerifyToken([OTHER_JWT_SECRET])(token, IAT), null);
});

test("tokens that no longer fit the cache stay valid", async () => {
  const verify = createVerifyToken([JWT_SECRET]);
  const tokens = await Promise.all(Array.from({ length: 600 }, (_, index) => sign(`s-${index}`)));
  for (const _ of [1, 2])
    for (const [index, token] of tokens.entries()) assert.equal(verify(token, IAT)?.sid, `s-${index}`);
});

test("the cache has at most 256 tokens and drops the oldest first", async () => {
  const verify = createVerifyToken([JWT_SECRET]);
  const tokens = await Promise.all(Array.from({ length: 257 }, (_, index) => sign(`s-${index}`)));
  const first = tokens.map((token) => verify(token, IAT));
  // A cached token returns the same object again.
  const isRemembered = (index: number) => verify(tokens[index] as string, IAT) === first[index];
  assert.deepEqual([256, 1, 0].map(isRemembered), [true, true, false]);
});
