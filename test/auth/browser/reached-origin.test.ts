import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { keepsCookie } from "../../../src/auth/browser/guard.ts";

const rules = (origin: string, cookieDomain?: string) => ({ origin, base: "", allowedOrigins: [], cookieDomain });

suite("a browser", () => {
  for (const [origin, own, domain, expected] of [
    ["https://auth.example.com", "https://auth.example.com", undefined, true],
    ["https://auth.example.com:8443", "https://auth.example.com", undefined, true],
    ["http://auth.example.com", "https://auth.example.com", undefined, false],
    ["http://auth.example.com", "https://auth.example.com", "example.com", false],
    ["https://nas.lan", "https://auth.example.com", undefined, false],
    ["https://wiki.example.com", "https://auth.example.com", undefined, false],
    ["https://wiki.example.com", "https://auth.example.com", "example.com", true],
    ["http://192.0.2.7:3000", "https://auth.example.com", "example.com", false],
    ["null", "https://auth.example.com", undefined, false],
    // Without HTTPS the cookie has neither a domain nor the attribute Secure.
    ["http://localhost:3000", "http://127.0.0.1:3000", undefined, true],
  ] as const) {
    test(`at ${origin} ${expected ? "keeps" : "does not keep"} the cookie of ${own}, with the domain ${domain}`, () =>
      assert.equal(keepsCookie(origin, rules(own, domain)), expected));
  }
});
