import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { placeOf } from "../../../src/auth/access/place.ts";
import { createAccess } from "../../../src/auth/access/rules.ts";
import { read } from "../../helpers/config-file.ts";

/** The judgement of entries of the file. */
function accessOf(yaml: string) {
  const judge = createAccess(read(`access:\n${yaml}\n`)?.access ?? []);
  return (url: string | null, { method = "GET" as string | null, address = "203.0.113.9" as string | null } = {}) =>
    judge({ place: url === null ? null : placeOf(url), method, address });
}

const EXAMPLE = `
  - { host: app.example.com, path: /public/**, allow: everyone }
  - { host: app.example.com, path: /api/*/hook, methods: [POST], allow: everyone }
  - { host: "*.lan.example.com", networks: [192.168.0.0/16, "2001:db8::/32"], allow: everyone }
  - { host: dav.example.com, allow: [session, token] }
  - { host: tokens.example.com, allow: [token] }
  - { host: old.example.com, allow: nobody }`;

suite("the first entry that matches decides", () => {
  const judge = accessOf(EXAMPLE);
  for (const [url, allow, entry, more] of [
    ["https://app.example.com/public/a", "everyone", 1],
    ["https://APP.example.com.:8443/public/a?b=/../c#d", "everyone", 1],
    ["https://app.example.com/private", ["session", "token"], null],
    ["https://app.example.com/api/x/hook", ["session", "token"], null],
    ["https://app.example.com/api/x/hook", "everyone", 2, { method: "POST" }],
    ["https://nas.lan.example.com/", "everyone", 3, { address: "192.168.1.2" }],
    ["https://a.b.lan.example.com/", "everyone", 3, { address: "2001:db8::1" }],
    ["https://nas.lan.example.com/", ["session", "token"], null, { address: "192.169.1.2" }],
    ["https://nas.lan.example.com/", ["session", "token"], null, { address: null }],
    ["https://lan.example.com/", ["session", "token"], null, { address: "192.168.1.2" }],
    ["https://dav.example.com/", ["session", "token"], 4],
    ["https://tokens.example.com/", ["token"], 5],
    ["https://old.example.com/", [], 6],
    ["https://other.example.com/", ["session", "token"], null],
    [null, ["session", "token"], null],
  ] as const)
    test(`${url} ${JSON.stringify(more ?? {})}`, () => {
      const found = judge(url, more);
      assert.deepEqual([found.allow, found.entry], [allow, entry]);
    });
});

test("a method that nobody names is an error where an entry would compare it, and nowhere else", () => {
  const judge = accessOf(EXAMPLE);
  const unnamed = { method: null };
  assert.throws(() => judge("https://app.example.com/api/x/hook", unnamed), { code: "validation_failed" });
  assert.equal(judge("https://app.example.com/public/a", unnamed).allow, "everyone");
  assert.deepEqual(judge("https://app.example.com/private", unnamed).allow, ["session", "token"]);
});

test("an entry for all places opens none to everyone while no proxy names the place", () => {
  const judge = accessOf("  - { networks: [192.168.0.0/16], allow: everyone }");
  assert.equal(judge("https://app.example.com/", { address: "192.168.1.2" }).allow, "everyone");
  assert.deepEqual(judge(null, { address: "192.168.1.2" }).allow, ["session", "token"]);
});

test("without entries a session or a token is needed", () => {
  const found = createAccess([])({ place: placeOf("https://app.example.com/"), method: "GET", address: null });
  assert.deepEqual(found, { allow: ["session", "token"], entry: null, isAmbiguous: false });
});

suite("a URL that is not exactly of its form is in no place, so that no entry opens it:", () => {
  const judge = accessOf("  - { path: /**, allow: everyone }");
  for (const url of [
    "app.example.com/",
    "//app.example.com/",
    "ftp://app.example.com/",
    "https://user@app.example.com/",
    "https://app.example.com\\@evil.test/",
    "https://app.example.com#/",
    "https://app.exämple.com/",
    "https://app.example.com:port/",
    "https://app.example.com:123456/",
    "https://app.example.com /",
    "https://",
    "https:///",
    "https:/app.example.com/",
    "",
  ])
    test(JSON.stringify(url), () => assert.deepEqual(judge(url).allow, ["session", "token"]));

  test("and one that is, is open", () => assert.equal(judge("https://app.example.com").allow, "everyone"));
});

suite("a path that may be read in several ways", () => {
  const judge = accessOf(`
  - { path: /public/**, allow: everyone }
  - { path: /closed/**, allow: nobody }
  - { path: /api/**, allow: [session, token] }
  - { path: /**, allow: [session] }`);
  const at = (path: string) => judge(`https://app.example.com${path}`);

  test("needs a login where an entry opens both readings", () => {
    for (const path of ["/public//a", "/public/a;b", "/public/../public/a", "/public/%2e/a", "/public/a%2fb"])
      assert.deepEqual(at(path).allow, ["session"], path);
  });

  test("is closed if one reading is closed", () => {
    for (const path of ["//closed/a", "/public/../closed/a", "/closed/../api/a", "/api/%2e%2e/closed", "/closed;x/a"])
      assert.deepEqual(at(path).allow, [], path);
    assert.equal(at("//closed/a").entry, 2);
  });

  test("needs what both readings need", () => {
    assert.deepEqual(at("/api/../x").allow, ["session"]);
    assert.deepEqual(at("/x/../api/a").allow, ["session"]);
    assert.deepEqual(at("/api//a").allow, ["session", "token"]);
  });

  test("of 8 KB is judged at once", () => {
    for (const part of ["/a", "/..", "%2e", "%25", "%252e%252e%252f", ";", "//", "\\", ".", "%20", "%3f"]) {
      const path = `/public/${part.repeat(Math.ceil(8192 / part.length))}`;
      const startedAt = process.cpuUsage();
      at(path);
      assert.ok(process.cpuUsage(startedAt).user < 1_000_000, part);
    }
  });
});
