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
  assert.deepEqual(found, { allow: ["session", "token"], entry: null, isBound: false, isAmbiguous: false });
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
  - { path: /share, allow: everyone }
  - { path: /api/**, allow: [session, token] }
  - { path: /**, allow: [session] }`);
  const at = (path: string) => judge(`https://app.example.com${path}`);

  test("is open if each reading stays in an open folder", () => {
    for (const path of [
      "/public//a",
      "/public/a;b",
      "/public/a%2fb",
      "/public/a%23b",
      "/public/a%3Fb",
      "/public/%2e/a",
    ])
      assert.deepEqual([at(path).allow, at(path).entry], ["everyone", 1], path);
  });

  test("needs a login where a reading leaves it, or is not known", () => {
    for (const path of [
      ...["/public/../public/a", "/public/a%2f../b", "/public/..%2fb", "/public/%252e%252e/b", "/public/.%00./b"],
      ...["/public/a%5c..%5cb", "/public/..;/b", "/public/..%23/b", "/public/%252e%252e%3b/b"],
      ...["/public/%ff%2fb", "/public/%c0%ae%c0%ae/b", "/public/%u002e%u002e/b", "/public/%2525252525252e/b"],
      ...["/public;x/a", "/public%2fa", "//public/a", "/share;x", "/share%2fa", "/share/%2e", "/public/a%zz"],
    ])
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

  test("is open on a host that is, unless an entry before it is for a reading", () => {
    const judge = accessOf(`
  - { host: open.example.com, allow: everyone }
  - { host: app.example.com, path: /admin/**, allow: [session] }
  - { host: app.example.com, path: /lan/**, networks: [192.168.0.0/16], allow: nobody }
  - { host: app.example.com, allow: everyone }`);
    for (const path of ["//api/fever.php", "/a;b", "/..%2f%2e%2e", "/%ff//"])
      assert.equal(judge(`https://open.example.com${path}`).allow, "everyone", path);
    for (const path of ["/files/a%2fb", "/files/a%23b", "/lan//a"])
      assert.equal(judge(`https://app.example.com${path}`).allow, "everyone", path);
    for (const path of ["//admin/a", "/files/..%2fadmin", "/x%2fy", "/admin//x", "/admin;x", "/%252561dmin/a"])
      assert.notEqual(judge(`https://app.example.com${path}`).allow, "everyone", path);
    assert.notEqual(judge("https://app.example.com/lan//a", { address: "192.168.1.1" }).allow, "everyone");
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

suite("an entry with a query", () => {
  const judge = accessOf(`
  - { host: rss.example.com, path: /, query: { action: display }, allow: everyone }
  - { host: fresh.example.com, path: /i/, query: { a: rss, a_b: "x y" }, methods: [GET, POST], allow: everyone }`);
  const opens = (target: string, method = "GET") => judge(`https://${target}`, { method }).allow === "everyone";

  test("opens what has the parameters", () => {
    for (const query of ["action=display", "bridge=X&action=display&format=Atom", "action=displa%79"])
      assert.ok(opens(`rss.example.com/?${query}`), query);
    assert.ok(opens("fresh.example.com/i/?a_b=x+y&a=rss&token=%20"));
    assert.ok(opens("fresh.example.com/i/?a=rss&a_b=x%20y", "POST"));
    assert.ok(opens("rss.example.com/?action=display", "HEAD"));
  });

  // Each was read otherwise by PHP 8.2 or Express 4.
  test("opens nothing where an app drops, splits or merges parameters", () => {
    for (const query of [
      ...[
        "p=admin#&action=display",
        `p=admin${"&x=".repeat(1000)}&action=display`,
        `${"&".repeat(1000)}action=display`,
      ],
      ...[
        "action=display&%61ction%00%ff=list",
        "action=display&%61ction[%ff]=list",
        "action=display&action%5b%ff%5d=x",
      ],
      ...["action=display&[action]=list", "action=display&%5Baction%5D=list", "action=display&a\u00e9=1"],
    ])
      assert.ok(!opens(`rss.example.com/?${query}`), query.slice(0, 80));
    const startedAt = process.cpuUsage();
    assert.ok(!opens(`rss.example.com/?${"%&".repeat(16_000)}action=display`));
    assert.ok(process.cpuUsage(startedAt).user < 100_000);
  });

  test("opens nothing where an app may read another value", () => {
    for (const query of [
      ...["", "action", "action=", "action=displa", "action=Display", "ACTION=display", "%61ction=display"],
      ...[
        "action=display&action=list",
        "action=list&action=display",
        "action=display&ACTION=list",
        "action=display&action[]=x",
      ],
      ...[
        "action=display&%61ction=list",
        "action=display&%2561ction=list",
        "action=display&+action=x",
        "action=display;action=x",
      ],
      ...[
        "action=display&action%00=x",
        "action=display&action%5b0=x",
        "action=%ff",
        "x=action=display",
        "action=display#",
      ],
    ])
      assert.ok(!opens(`rss.example.com/?${query}`), query);
    for (const query of ["a=rss", "a=rss&a_b=x%20y&a.b=1", "a=rss&a_b=x%20y&a%20b=1", "a=rss&a_b=x%20y&a[b=1"])
      assert.ok(!opens(`fresh.example.com/i/?${query}`), query);
    assert.ok(!opens("rss.example.com/"));
    assert.ok(!opens("rss.example.com/x?action=display"));
    assert.ok(!opens("rss.example.com//?action=display"));
    assert.ok(!opens("rss.example.com/?action=display", "POST"));
  });

  test("is only for everyone", () => {
    assert.throws(() => accessOf("  - { path: /a, query: { a: b }, allow: nobody }"), /only for allow: everyone/);
    assert.throws(() => accessOf("  - { path: /a, query: {}, allow: everyone }"), /at least one parameter/);
  });
});
