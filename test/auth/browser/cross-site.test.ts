import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { suite, test } from "node:test";
import { isFromOtherScheme, requireSameSite } from "../../../src/auth/browser/guard.ts";
import { AppError } from "../../../src/errors.ts";

const TRUSTED = ["https://app.example.net"];
const PUBLIC = "https://public.example.com";

const requestOf = (headers: Record<string, string | undefined>) =>
  ({ headers: { host: "auth.example.com", ...headers } }) as unknown as IncomingMessage;

function isAllowed(headers: Record<string, string | undefined>, ownOrigin = PUBLIC): boolean {
  try {
    requireSameSite(requestOf(headers), TRUSTED, ownOrigin);
    return true;
  } catch (error) {
    assert.ok(error instanceof AppError && error.code === "cross_site_request");
    return false;
  }
}

suite("a request that changes state", () => {
  for (const [what, headers, allowed] of [
    ["of the same origin", { "sec-fetch-site": "same-origin" }, true],
    ["that the user made", { "sec-fetch-site": "none" }, true],
    ["of a sibling subdomain", { "sec-fetch-site": "same-site", origin: "https://wiki.example.com" }, false],
    ["of another site", { "sec-fetch-site": "cross-site", origin: "https://evil.test" }, false],
    ["of another site that hides its origin", { "sec-fetch-site": "cross-site", origin: "null" }, false],
    [
      "of another site, with the origin of this service",
      { "sec-fetch-site": "cross-site", origin: "https://auth.example.com" },
      false,
    ],
    ["of a trusted origin", { "sec-fetch-site": "cross-site", origin: "https://app.example.net" }, true],
    ["of an old browser, same origin", { origin: "https://auth.example.com" }, true],
    [
      "of an old browser, same origin in other letters",
      { origin: "https://auth.example.com", host: "AUTH.example.com" },
      true,
    ],
    [
      "of an old browser, same origin with its port",
      { origin: "https://auth.example.com", host: "auth.example.com:443" },
      true,
    ],
    ["of an old browser, this host without TLS", { origin: "http://auth.example.com" }, false],
    ["of an old browser, this host by another scheme", { origin: "ftp://auth.example.com" }, false],
    ["of an old browser, an address that begins with an origin", { origin: "https://auth.example.com/" }, false],
    ["of an old browser, another host", { origin: "https://evil.test" }, false],
    ["of an old browser, another port", { origin: "https://auth.example.com:8443" }, false],
    ["of an old browser, a longer host", { origin: "https://auth.example.com.evil.test" }, false],
    ["of an old browser, an origin that is hidden", { origin: "null" }, false],
    ["of an old browser, an origin that is none", { origin: "auth.example.com" }, false],
    ["of an old browser, an origin that is hidden, to no host", { origin: "null", host: undefined }, false],
    ["of an old browser, an empty origin, to no host", { origin: "", host: undefined }, false],
    ["of an old browser, an origin without a host, to an empty host", { origin: "file:///x", host: "" }, false],
    ["with an unknown Sec-Fetch-Site", { "sec-fetch-site": "other" }, false],
    ["of a program", {}, true],
  ] as const) {
    test(`${what} is ${allowed ? "allowed" : "refused"}`, () => assert.equal(isAllowed(headers), allowed));
  }

  test("of an old browser has the scheme of PUBLIC_URL", () => {
    assert.equal(isAllowed({ origin: "http://localhost:3000", host: "localhost:3000" }, "http://127.0.0.1:3000"), true);
    assert.equal(
      isAllowed({ origin: "https://localhost:3000", host: "localhost:3000" }, "http://127.0.0.1:3000"),
      false,
    );
  });

  test("of an old browser, of the public origin, is allowed also if a proxy drops the port", () => {
    const origin = "https://auth.example.com:8443";
    assert.equal(isAllowed({ origin }, origin), true);
    assert.equal(isAllowed({ origin: "https://evil.test" }, origin), false);
    assert.equal(isAllowed({ origin, "sec-fetch-site": "cross-site" }, origin), false);
  });
});

test("a page of this host under another scheme is told from others", () => {
  for (const [headers, expected] of [
    [{ origin: "http://auth.example.com" }, true],
    [{ origin: "http://auth.example.com", "sec-fetch-site": "cross-site" }, false],
    [{ origin: "http://evil.test" }, false],
    [{ origin: "null" }, false],
    [{ origin: "http://auth.example.com", host: undefined }, false],
    [{}, false],
  ] as const)
    assert.equal(isFromOtherScheme(requestOf(headers)), expected);
});
