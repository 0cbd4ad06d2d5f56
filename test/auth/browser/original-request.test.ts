import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { BlockList } from "node:net";
import { suite, test } from "node:test";
import { originalRequest, type ProxyFamily } from "../../../src/auth/browser/original-request.ts";

const PROXIES = new BlockList();
PROXIES.addAddress("127.0.0.1");

const read = (headers: Record<string, string | undefined>, family?: ProxyFamily, remoteAddress = "127.0.0.1") =>
  originalRequest({ headers, method: "GET", socket: { remoteAddress } } as unknown as IncomingMessage, PROXIES, family);
const urlOf = (headers: Record<string, string>, remoteAddress?: string) => read(headers, undefined, remoteAddress).url;

suite("the original URL", () => {
  const FORWARDED = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "app.example.com",
    "x-forwarded-uri": "/a?b=c",
  };

  for (const [what, headers, expected] of [
    ["of one proxy", FORWARDED, "https://app.example.com/a?b=c"],
    ["without a path", { ...FORWARDED, "x-forwarded-uri": undefined }, "https://app.example.com/"],
    ["of several proxies", { ...FORWARDED, "x-forwarded-proto": "https, http" }, "https://app.example.com/a?b=c"],
    [
      "of several hosts",
      { ...FORWARDED, "x-forwarded-host": "app.example.com ,inner" },
      "https://app.example.com/a?b=c",
    ],
    ["in capitals", { ...FORWARDED, "x-forwarded-proto": "HTTPS" }, "https://app.example.com/a?b=c"],
    ["with a port", { ...FORWARDED, "x-forwarded-host": "app.example.com:8443" }, "https://app.example.com:8443/a?b=c"],
    ["of a websocket", { ...FORWARDED, "x-forwarded-proto": "wss" }, "https://app.example.com/a?b=c"],
    ["as a whole", { "x-original-url": "https://wiki.example.com/" }, "https://wiki.example.com/"],
    [
      "as both",
      { ...FORWARDED, "x-original-url": "https://APP.example.com:443/a?b=c" },
      "https://APP.example.com:443/a?b=c",
    ],
    ["with a scheme that is none", { ...FORWARDED, "x-forwarded-proto": "https://x" }, null],
    ["with a host that is none", { ...FORWARDED, "x-forwarded-host": "a/b" }, null],
    ["without a host", { "x-forwarded-proto": "https", "x-forwarded-uri": "/" }, null],
  ] as const) {
    test(`${what} is ${expected}`, () => assert.equal(urlOf(headers as Record<string, string>), expected));
  }

  test("is believed of trusted proxies only", () => assert.equal(urlOf(FORWARDED, "192.0.2.1"), null));

  // https://github.com/oauth2-proxy/oauth2-proxy/issues/3506: a header of the client decides which path is judged.
  test("is refused if two families of headers differ, of which one may be the client's", () => {
    const open = { "x-original-url": "https://app.example.com/open" };
    const refused = { code: "validation_failed" };
    assert.throws(() => read({ ...FORWARDED, ...open }), refused);
    assert.throws(() => read({ ...FORWARDED, "x-forwarded-method": "DELETE", "x-original-method": "GET" }), refused);
    assert.equal(read({ ...FORWARDED, ...open }, "forwarded").url, "https://app.example.com/a?b=c");
    assert.equal(read({ ...FORWARDED, ...open }, "original").url, "https://app.example.com/open");
  });
});

test("of several hosts the first one may be the client's, unless nginx names the URL", () => {
  const several = {
    "x-forwarded-proto": "https",
    "x-forwarded-host": "open.example.com, app.example.com",
    "x-forwarded-uri": "/a",
  };
  const named = { ...several, "x-original-url": "https://open.example.com/a" };
  assert.equal(read(several).isOneHost, false);
  assert.equal(read(named).isOneHost, false);
  assert.equal(read(named, "forwarded").isOneHost, false);
  assert.equal(read(named, "original").isOneHost, true);
  assert.equal(read({ ...named, "x-forwarded-uri": undefined }).isOneHost, true);
});

suite("the original method", () => {
  const URL = { "x-original-url": "https://app.example.com/a" };
  const URI = { "x-forwarded-proto": "https", "x-forwarded-host": "app.example.com", "x-forwarded-uri": "/a" };
  const GET = { "x-forwarded-method": "get" };

  test("is that of the family that names the URL", () => {
    assert.deepEqual(read({ ...URI, ...GET }), {
      url: "https://app.example.com/a",
      isOneHost: true,
      method: "GET",
      isMethodNamed: true,
    });
    assert.ok(read({ ...URL, "x-original-method": "PUT" }).isMethodNamed);
    assert.ok(read({ ...URL, ...URI, ...GET, "x-original-method": "get" }).isMethodNamed);
  });

  // https://github.com/authelia/authelia/issues/2840: lines of nginx without a method. A client may add the other header.
  test("is named by nobody if only a header of the other family has it, or none", () => {
    for (const headers of [
      URL,
      URI,
      { ...URL, ...GET },
      { ...URL, ...URI, ...GET },
      { ...URI, "x-original-method": "GET" },
    ])
      assert.equal(read(headers).isMethodNamed, false, JSON.stringify(headers));
    assert.equal(read({ ...URI, ...GET }, undefined, "192.0.2.1").isMethodNamed, false);
  });
});
