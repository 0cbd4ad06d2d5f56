import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { suite, test } from "node:test";
import { createMarkCookie, createSessionCookie } from "../../../src/auth/browser/cookie.ts";

suite("the session cookie", () => {
  for (const [what, origin, domain, name, attributes] of [
    ["on HTTPS", "https://auth.example.com", undefined, "__Host-authserve", "Path=/; HttpOnly; SameSite=Lax; Secure"],
    [
      "for a domain",
      "https://auth.example.com",
      "example.com",
      "__Secure-authserve",
      "Path=/; HttpOnly; SameSite=Lax; Secure; Domain=example.com",
    ],
    ["on loopback", "http://127.0.0.1:3000", undefined, "authserve", "Path=/; HttpOnly; SameSite=Lax"],
  ] as const) {
    test(`${what} is ${name}`, () => {
      const cookie = createSessionCookie(origin, domain);
      assert.equal(cookie.set("token", 900), `${name}=token; Max-Age=900; ${attributes}`);
      assert.equal(cookie.clear(), `${name}=; Max-Age=0; ${attributes}`);
      const read = (header: string) => cookie.read({ headers: { cookie: header } } as IncomingMessage);
      assert.deepEqual(read(`a=b; ${name}=x;${name}=y; X${name}=z; ${name}`), ["x", "y"]);
      assert.deepEqual(read("a=b"), []);
      // Browsers take 0xA0 for a part of the name, so the prefix does not keep another host from setting this cookie.
      assert.deepEqual(read(`\u00a0${name}=x; ${name}\u00a0=y; \u000b${name}=z`), []);
      assert.deepEqual(read(` \t${name} \t= \tx\u00a0 \t`), ["x\u00a0"]);
      assert.deepEqual(cookie.read({ headers: {} } as IncomingMessage), []);
    });
  }
});

test("the mark of a browser is in a cookie of this host only, also with COOKIE_DOMAIN", () => {
  const attributes = "Max-Age=60; Path=/; HttpOnly; SameSite=Lax";
  const { set } = createMarkCookie("https://auth.example.com");
  assert.equal(set("m", 60), `__Host-authserve-browser=m; ${attributes}; Secure`);
  assert.equal(createMarkCookie("http://127.0.0.1:3000").set("m", 60), `authserve-browser=m; ${attributes}`);
});
