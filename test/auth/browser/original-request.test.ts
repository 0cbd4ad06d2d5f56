import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { BlockList } from "node:net";
import { suite, test } from "node:test";
import { originalRequest } from "../../../src/auth/browser/verify.ts";

const PROXIES = new BlockList();
PROXIES.addAddress("127.0.0.1");

const urlOf = (headers: Record<string, string>, remoteAddress = "127.0.0.1") =>
  originalRequest({ headers, method: "GET", socket: { remoteAddress } } as unknown as IncomingMessage, PROXIES).url;

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
    ["as a whole", { ...FORWARDED, "x-original-url": "https://wiki.example.com/" }, "https://wiki.example.com/"],
    ["with a scheme that is none", { ...FORWARDED, "x-forwarded-proto": "https://x" }, null],
    ["with a host that is none", { ...FORWARDED, "x-forwarded-host": "a/b" }, null],
    ["without a host", { "x-forwarded-proto": "https", "x-forwarded-uri": "/" }, null],
  ] as const) {
    test(`${what} is ${expected}`, () => assert.equal(urlOf(headers as Record<string, string>), expected));
  }

  test("is believed of trusted proxies only", () => assert.equal(urlOf(FORWARDED, "192.0.2.1"), null));
});
