import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { matchesPath, readPath } from "../../../src/auth/access/path.ts";

suite("a path that every back end reads alike", () => {
  for (const [path, segments] of [
    ["/", [""]],
    ["/a", ["a"]],
    ["/a/", ["a", ""]],
    ["/a/b.html", ["a", "b.html"]],
    ["/a%20b/%C3%B1", ["a b", "ñ"]],
    ["/.well-known/x", [".well-known", "x"]],
    ["/a:b@c!$&'()*+,=~", ["a:b@c!$&'()*+,=~"]],
    ["/%41", ["A"]],
    ["/100%25", ["100%"]],
  ] as const)
    test(path, () => assert.deepEqual(readPath(path), { segments, lenient: null }));
});

suite("a path that may be read in several ways", () => {
  for (const [path, lenient] of [
    ["//a", ["a"]],
    ["/a//b", ["a", "b"]],
    ["/a//", ["a", ""]],
    ["/a/./b", ["a", "b"]],
    ["/a/.", ["a", ""]],
    ["/a/../b", ["b"]],
    ["/../../b", ["b"]],
    ["/a/b/..", ["a", ""]],
    ["/a/%2e%2e/b", ["b"]],
    ["/a/%2E./b", ["b"]],
    ["/a/%252e%252e/b", ["b"]],
    ["/a/%25252e%25252e/b", ["b"]],
    ["/a%2fb", ["a", "b"]],
    ["/a%2Fb", ["a", "b"]],
    ["/a%252Fb", ["a", "b"]],
    ["/a%5cb", ["a", "b"]],
    ["/a\\b", ["a", "b"]],
    ["/a\\..\\b", ["b"]],
    ["/a;x=1/b", ["a", "b"]],
    ["/a%3bx/b", ["a", "b"]],
    ["/a/..;/b", ["b"]],
    ["/a#/b", ["a"]],
    ["/a%23b", ["a"]],
    ["/a%00b", ["a"]],
    ["/a%0ab", ["a\nb"]],
    ["/a%ff", ["a\ufffd"]],
    ["/%c0%ae%c0%ae/b", ["\ufffd\ufffd\ufffd\ufffd", "b"]],
    ["/a%", ["a%"]],
    ["/a%zz", ["a%zz"]],
    ["/a b", ["a b"]],
    ["/a%3fb/c", ["a"]],
    ["/a%3F/../b", ["a"]],
    ["/a%253fb", ["a"]],
    ["/a%20", ["a"]],
    ["/a%2520", ["a"]],
    ["/%20a/b", ["a", "b"]],
    ["/a%c2%a0", ["a"]],
    ["/a./b", ["a", "b"]],
    ["/a.%20.", ["a"]],
    ["/...", [""]],
    ["/a/..%20/b", ["b"]],
    ["/a/%20../b", ["b"]],
    ["/a/..%20;x/b", ["b"]],
    ["/a/.%20/b", ["a", "b"]],
    ["/a/%u002e%u002E/b", ["b"]],
    ["/a/%25u002e%25u002e/b", ["b"]],
    ["/%u3002", ["%u3002"]],
  ] as const)
    test(path, () => assert.deepEqual(readPath(path).lenient, lenient));

  test("with a letter that is not encoded", () => assert.notEqual(readPath("/\u00c3\u00b1").lenient, null));
});

suite("a pattern", () => {
  for (const [pattern, matching, others] of [
    ["/", ["/"], ["/a", "//"]],
    ["/a", ["/a", "/%61"], ["/a/", "/A", "/ab", "/a/b", "/"]],
    ["/a/", ["/a/"], ["/a"]],
    ["/a/*", ["/a/b", "/a/c%20d"], ["/a", "/a/", "/a/b/", "/a/b/c"]],
    ["/a/*/hook", ["/a/b/hook"], ["/a/hook", "/a/b/c/hook", "/a/b/hooks", "/a//hook"]],
    ["/a/**", ["/a", "/a/", "/a/b", "/a/b/c/"], ["/ab", "/b/a", "/"]],
    ["/**", ["/", "/a", "/a/b"], []],
  ] as const) {
    test(pattern, () => {
      const matches = (path: string) => matchesPath(pattern.split("/").slice(1), readPath(path).segments);
      assert.deepEqual(
        matching.filter((path) => !matches(path)),
        [],
      );
      assert.deepEqual(others.filter(matches), []);
    });
  }
});
