import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { mayVerify, scopeOf } from "../../../src/auth/machine-tokens/scopes.ts";

suite("a scope", () => {
  for (const scope of [
    "verify",
    "events:read",
    "events:write",
    "events:erase",
    "manage",
    "listen",
    "metrics",
    "verify:app.example.com",
  ])
    test(`${scope} is known`, () => assert.equal(scopeOf(scope), scope));

  test("has its host in lower case", () => assert.equal(scopeOf("verify:App.Example.COM"), "verify:app.example.com"));

  for (const text of [
    "",
    "admin",
    "Verify",
    "verify:",
    "verify:*",
    "verify:*.example.com",
    "verify:app.example.com:443",
    "verify:app.example.com/path",
    "verify:app.example.com.",
    "verify:-a",
    "verify:a b",
    "events:*",
    "events:read events:write",
    "toString",
  ])
    test(`${JSON.stringify(text)} is none`, () => assert.equal(scopeOf(text), null));
});

suite("forward-auth", () => {
  test("takes a token for every host at every host, also an unknown one", () => {
    assert.ok(mayVerify(["verify"], "a.example.com"));
    assert.ok(mayVerify(["verify"], null));
  });

  test("takes a token for a host at that host only", () => {
    assert.ok(mayVerify(["metrics", "verify:a.example.com"], "a.example.com"));
    for (const host of ["b.example.com", "a.example.com.evil.test", "x.a.example.com", "example.com", "", null])
      assert.ok(!mayVerify(["verify:a.example.com"], host), String(host));
  });

  test("takes no token without its scope", () => assert.ok(!mayVerify(["events:read", "metrics"], "a.example.com")));
});
