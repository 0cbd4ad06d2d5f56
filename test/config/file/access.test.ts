import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { faults, read } from "../../helpers/config-file.ts";

const faultsOf = (entry: string) =>
  faults(`access:\n  - ${entry}\n`).map((line) => line.replace(/^2:\d+ access\.0\.?/, ""));

suite("an entry of access", () => {
  test("is read with every key, and what is missing is not compared", () => {
    const [whole, short] =
      read(`access:
  - { host: "*.Example.com", path: "/a b/*/é/**", methods: [GET, PROPFIND], networks: [192.0.2.1, "2001:db8::/32"], allow: [token, session], bound: true }
  - { path: /, allow: nobody }
`)?.access ?? [];
    assert.deepEqual(
      [whole?.host, whole?.path, whole?.methods, whole?.allow, whole?.isBound],
      ["*.example.com", ["a b", "*", "é", "**"], ["GET", "PROPFIND"], ["token", "session"], true],
    );
    assert.ok(whole?.networks?.check("2001:db8::7", "ipv6"));
    const nothing = { host: null, query: null, methods: null, networks: null, isBound: false };
    assert.deepEqual(short, { ...nothing, path: [""], allow: [] });
  });

  for (const [entry, ...lines] of [
    ["{}", "allow: missing, expected everyone, nobody, or a list of session, token, person:ID and group:NAME"],
    [
      "{ allow: all }",
      'allow: found "all", expected everyone, nobody, or a list of session, token, person:ID and group:NAME',
    ],
    ["{ allow: [] }", "allow: found an empty list, expected at least one way"],
    ["{ allow: [session, cookie] }", 'allow.1: found "cookie", expected session, token, person:ID or group:NAME'],
    [
      "{ allow: nobody, hosts: a }",
      "hosts: unknown key, expected one of host, path, query, methods, networks, allow, bound (did you mean host?)",
    ],
    [
      "{ allow: nobody, host: 'https://a' }",
      "host: found text, expected a host without a port, e.g. app.example.com or *.example.com",
    ],
    ["{ allow: nobody, methods: [get] }", 'methods.0: found "get", expected a method in capital letters, e.g. POST'],
    [
      "{ allow: nobody, networks: [lan] }",
      'networks.0: found "lan", expected an address or a range, e.g. 192.168.0.0/16',
    ],
  ] as const)
    test(`${entry} is refused`, () => assert.deepEqual(faultsOf(entry), lines));

  for (const path of [
    "public",
    "/public/**/x",
    "/pub*",
    "/a//b",
    "/a/../b",
    "/a/./b",
    "/a%20b",
    "/a?b",
    "/a#b",
    "/a;b",
    "/a\\b",
    "/***",
    "",
  ])
    test(`the path ${JSON.stringify(path)} is refused`, () => {
      const [line = "", ...others] = faultsOf(`{ allow: nobody, path: ${JSON.stringify(path)} }`);
      assert.deepEqual(others, []);
      assert.match(line, /^path: found .*, expected a/);
    });

  test("with the host and a port is refused", () =>
    assert.equal(faultsOf("{ allow: nobody, host: 'a.example.com:443' }").length, 1));

  test("that opens everything is warned of", () => {
    const [warning = ""] = read("access:\n  - { methods: [OPTIONS, GET], allow: everyone }\n")?.warnings ?? [];
    assert.match(warning, /access\.0: lets everybody in everywhere: name a host, a path or networks$/);
  });
});
