import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { redirectTarget, refusalText, shortTarget } from "../../../src/auth/browser/redirect-target.ts";

const RULES = {
  origin: "https://auth.example.com",
  base: "",
  allowedOrigins: ["https://app.example.net", "http://127.0.0.1:8080"],
  cookieDomain: "example.com",
};

// Forms that browsers, or other parsers, read as another host.
const HOSTILE = [
  "//evil.test",
  "///evil.test",
  "////evil.test/",
  "/\\evil.test",
  "/\\/evil.test",
  "\\/evil.test",
  "\\\\evil.test",
  "/\t/evil.test",
  "/\n/evil.test",
  "/\r\n/evil.test",
  "\t//evil.test",
  " //evil.test",
  "/ /evil.test",
  "/\u00a0/evil.test",
  "/\u200b/evil.test\u0000",
  "/.//evil.test",
  "/..//evil.test",
  "/a/..//evil.test",
  "/%2e%2e//evil.test",
  "/./\\evil.test",
  "https:evil.test",
  "https:/evil.test",
  "https:///evil.test",
  "https://evil.test",
  "http://evil.test",
  "https:\\\\evil.test",
  "https://auth.example.com@evil.test",
  "https://auth.example.com:443@evil.test/",
  "https://user:password@app.example.com/",
  "https://auth.example.com.evil.test",
  "https://evil.test#auth.example.com",
  "https://evil.test?.example.com",
  "https://evil.test\\.example.com",
  "https://evilexample.com",
  "https://example.com.evil.test/",
  "https://app.example.net.evil.test/",
  "https://app.example.net:8443/",
  "http://127.0.0.1:8081/",
  "https://[::1]/",
  "https://example.com\u3002evil.test/",
  "https://a;script-src.example.com/",
  "https://a'b.example.com/",
  "https://a,b.example.com/",
  "https://a_b.example.com/",
  "https://*.example.com/",
  "https://a&b=c.example.com/",
  "https://[::1].example.com/",
  "javascript:alert(1)",
  "JaVaScRiPt:alert(1)",
  "data:text/html,x",
  "vbscript:x",
  "blob:https://auth.example.com/x",
  "filesystem:https://auth.example.com/x",
  "ftp://app.example.com/",
  "wss://app.example.com/",
  "mailto:a@example.com",
  "evil.test",
  "auth.example.com/x",
  "",
  "#",
  "?rd=https://evil.test",
  `/${"x".repeat(5000)}`,
];

suite("the target of a login", () => {
  for (const rd of HOSTILE) {
    test(`is the start page instead of ${JSON.stringify(rd.slice(0, 60))}`, () => {
      const { url, refused } = redirectTarget(rd, RULES);
      assert.equal(url, "/");
      assert.ok(refused);
    });
  }

  for (const [rd, target] of [
    [null, "/"],
    ["/", "/"],
    ["/login/renew?rd=%2Fx", "/login/renew?rd=%2Fx"],
    ["/a/../b?c=d#e", "/b?c=d#e"],
    ["/a//b", "/a//b"],
    ["https://auth.example.com/x", "https://auth.example.com/x"],
    ["HTTPS://AUTH.EXAMPLE.COM/x", "https://auth.example.com/x"],
    ["https://auth.example.com:443/x", "https://auth.example.com/x"],
    ["https://app.example.net/x?y=%2F%2Fevil.test", "https://app.example.net/x?y=%2F%2Fevil.test"],
    ["http://127.0.0.1:8080/", "http://127.0.0.1:8080/"],
    ["https://example.com/", "https://example.com/"],
    ["https://wiki.example.com/page#part", "https://wiki.example.com/page#part"],
    ["https://a.b.example.com:8443/", "https://a.b.example.com:8443/"],
    // A proxy behind one that does TLS may believe that the page came by http, for which browsers keep no cookie.
    ["http://wiki.example.com/page?a=b#part", "https://wiki.example.com/page?a=b#part"],
    ["http://wiki.example.com:8080/", "https://wiki.example.com:8080/"],
    ["http://auth.example.com/x", "https://auth.example.com/x"],
    ["http://app.example.net/", "https://app.example.net/"],
  ] as const) {
    test(`is ${target} for ${rd}`, () => assert.deepEqual(redirectTarget(rd, RULES), { url: target, refused: null }));
  }

  for (const [what, url, target] of [
    ["of 4,096 characters", `https://app.example.com/?${"a".repeat(4071)}`, undefined],
    ["whose query is too long", `https://app.example.com/a/b?${"a".repeat(4096)}#c`, "https://app.example.com/a/b"],
    ["whose path is too long", `https://app.example.com:8443/${"a/".repeat(4096)}`, "https://app.example.com:8443/"],
  ] as const) {
    test(`is short for an address ${what}`, () => {
      const expected = target ?? url;
      assert.equal(shortTarget(url), expected);
      assert.deepEqual(redirectTarget(expected, { ...RULES, allowedOrigins: [] }), { url: expected, refused: null });
    });
  }

  test("is no subdomain without a cookie domain", () => {
    const { refused } = redirectTarget("https://wiki.example.com/", { ...RULES, cookieDomain: undefined });
    assert.deepEqual(refused, { reason: "origin_not_allowed", origin: "https://wiki.example.com" });
  });

  test("is the start page under the path of the service", () => {
    const rules = { ...RULES, base: "/sso" };
    for (const rd of [null, "https://evil.test/"]) assert.equal(redirectTarget(rd, rules).url, "/sso/");
    assert.equal(redirectTarget("/app/", rules).url, "/app/");
  });

  for (const [rd, reason, remedy] of [
    ["https://app.example.org:8443/x", "origin_not_allowed", /https:\/\/app\.example\.org:8443: .* REDIRECT_ORIGINS/],
    ["http://app.example.org/", "origin_not_allowed", /http:\/\/app\.example\.org: /],
    ["https:///x", "no_host", /host/],
    ["evil.test", "malformed", /plain URL/],
  ] as const) {
    test(`that is refused has a reason and a remedy: ${rd}`, () => {
      const { refused } = redirectTarget(rd, RULES);
      assert.equal(refused?.reason, reason);
      assert.match(refusalText(refused), remedy);
    });
  }
});
