import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { answerUrl, matchesRedirect, nearestRedirect, redirectFault } from "../../../src/auth/clients/redirects.ts";

const APP = "https://app.example.com/oauth/callback";
const REGISTERED = [
  APP,
  "https://query.example.com/cb?tenant=1",
  "https://xn--bcher-kva.example/cb",
  "app.immich:///oauth-callback",
  "http://127.0.0.1/cb",
  "http://[::1]:4000/cb?a=b",
  "http://localhost:3000/cb",
  "https://127.0.0.1:8443/cb",
];

suite("a redirect URI matches", () => {
  for (const uri of [
    ...REGISTERED,
    "http://127.0.0.1:1/cb",
    "http://127.0.0.1:65535/cb",
    "http://[::1]/cb?a=b",
    "http://[::1]:51004/cb?a=b",
  ])
    test(uri, () => assert.ok(matchesRedirect(REGISTERED, uri)));
});

suite("a redirect URI that is nearly a registered one does not match", () => {
  for (const [what, uri] of [
    ["nothing", ""],
    ["the case of the scheme", "HTTPS://app.example.com/oauth/callback"],
    ["the case of the host", "https://APP.example.com/oauth/callback"],
    ["the case of the path", "https://app.example.com/OAuth/callback"],
    ["another scheme", "http://app.example.com/oauth/callback"],
    ["the default port", "https://app.example.com:443/oauth/callback"],
    ["another port", "https://app.example.com:8443/oauth/callback"],
    ["an empty port", "https://app.example.com:/oauth/callback"],
    ["a dot after the host", "https://app.example.com./oauth/callback"],
    ["a slash at the end", `${APP}/`],
    ["a prefix", "https://app.example.com/oauth"],
    ["the origin alone", "https://app.example.com"],
    ["more path", `${APP}/x`],
    ["more text", `${APP}x`],
    ["path parameters", `${APP};x=1`],
    ["a double slash", "https://app.example.com//oauth/callback"],
    ["a dot segment", "https://app.example.com/oauth/./callback"],
    ["a parent segment", "https://app.example.com/x/../oauth/callback"],
    ["an encoded parent segment", "https://app.example.com/oauth/callback/%2e%2e/x"],
    ["an encoded letter", "https://app.example.com/oauth/%63allback"],
    ["an encoded slash", "https://app.example.com/oauth%2Fcallback"],
    ["the whole address encoded", encodeURIComponent(APP)],
    ["a query", `${APP}?x=1`],
    ["an empty query", `${APP}?`],
    ["another query", "https://query.example.com/cb?tenant=2"],
    ["more query", "https://query.example.com/cb?tenant=1&x=2"],
    ["no query", "https://query.example.com/cb"],
    ["a fragment", `${APP}#x`],
    ["an empty fragment", `${APP}#`],
    ["a user", "https://user@app.example.com/oauth/callback"],
    ["the host as a user", "https://app.example.com@evil.test/oauth/callback"],
    ["the host as a user and password", "https://app.example.com:443@evil.test/oauth/callback"],
    ["a longer host", "https://app.example.com.evil.test/oauth/callback"],
    ["a subdomain", "https://x.app.example.com/oauth/callback"],
    ["a host that ends alike", "https://evilapp.example.com/oauth/callback"],
    ["the address within a query", `https://evil.test/?${APP}`],
    ["the address within a fragment", `https://evil.test/#${APP}`],
    ["a backslash", "https://app.example.com\\oauth\\callback"],
    ["a host before a backslash", "https://evil.test\\@app.example.com/oauth/callback"],
    ["a tab", "https://app.example.com/oauth/call\tback"],
    ["a line end", `${APP}\n`],
    ["a blank before", ` ${APP}`],
    ["a blank after", `${APP} `],
    ["U+0000", `${APP}\0`],
    ["one slash", "https:/app.example.com/oauth/callback"],
    ["no scheme", "//app.example.com/oauth/callback"],
    ["a name in Unicode", "https://bücher.example/cb"],
    ["a letter that looks alike", "https://аpp.example.com/oauth/callback"],
    ["a letter of full width", "https://ａpp.example.com/oauth/callback"],
    ["an ideographic full stop", "https://app。example.com/oauth/callback"],
    ["two addresses", `${APP} https://evil.test/`],
    ["the case of a custom scheme", "App.immich:///oauth-callback"],
    ["a host in a custom scheme", "app.immich://evil/oauth-callback"],
    ["fewer slashes in a custom scheme", "app.immich:/oauth-callback"],
    ["a script", "javascript:alert(1)"],
    ["port 0 of a loopback address", "http://127.0.0.1:0/cb"],
    ["a port of a loopback address that is none", "http://127.0.0.1:65536/cb"],
    ["a port with a zero before it", "http://127.0.0.1:080/cb"],
    ["an empty port of a loopback address", "http://127.0.0.1:/cb"],
    ["another path of a loopback address", "http://127.0.0.1:4000/cb/"],
    ["another query of a loopback address", "http://[::1]:4000/cb?a=c"],
    ["another loopback address", "http://127.0.0.2:4000/cb"],
    ["a short loopback address", "http://127.1:4000/cb"],
    ["a loopback address as a number", "http://2130706433:4000/cb"],
    ["the other family of loopback addresses", "http://[::1]:4000/cb"],
    ["a long loopback address of IPv6", "http://[0:0:0:0:0:0:0:1]:4000/cb?a=b"],
    ["a loopback address as a user", "http://127.0.0.1:4000@evil.test/cb"],
    ["a loopback address as a subdomain", "http://127.0.0.1.evil.test/cb"],
    ["another port of localhost", "http://localhost:3001/cb"],
    ["another port of a loopback address by https", "https://127.0.0.1:8444/cb"],
    ["a loopback address by https", "https://127.0.0.1/cb"],
  ] as const)
    test(what, () => assert.equal(matchesRedirect(REGISTERED, uri), false));
});

suite("the answer to an app", () => {
  const answer = { code: "a b&c", state: null, iss: "https://auth.example.com" };
  const query = "code=a+b%26c&iss=https%3A%2F%2Fauth.example.com";
  for (const [uri, expected] of [
    [APP, `${APP}?${query}`],
    [`${APP}?`, `${APP}?${query}`],
    [`${APP}?a=%7e+b`, `${APP}?a=%7e+b&${query}`],
    [`${APP}?a=b&`, `${APP}?a=b&${query}`],
    ["https://APP.example.com:443", `https://APP.example.com:443?${query}`],
    ["app.immich:///oauth-callback", `app.immich:///oauth-callback?${query}`],
  ] as const)
    test(`goes to ${uri}`, () => assert.equal(answerUrl(uri, answer), expected));

  test("keeps the address if there is nothing to add", () => assert.equal(answerUrl(APP, { state: null }), APP));

  test("cannot break out of its parameter", () => {
    const state = "x&code=y#z\r\nLocation: https://evil.test/";
    const url = new URL(answerUrl(APP, { code: "c", state }));
    assert.equal(url.href.slice(0, APP.length + 1), `${APP}?`);
    assert.deepEqual(url.searchParams.getAll("code"), ["c"]);
    assert.equal(url.searchParams.get("state"), state);
    assert.equal(url.hash, "");
  });
});

suite("the nearest redirect", () => {
  const registered = ["https://other.example.org/x", APP];
  for (const [uri, difference] of [
    [`${APP}/`, "a slash at the end"],
    ["https://app.example.com/OAuth/Callback", "upper and lower case"],
    ["http://app.example.com/oauth/callback", "scheme"],
    ["https://app.example.com:8443/oauth/callback", "host or port"],
    ["https://app.example.com/auth", "path"],
    [`${APP}?a=b#c`, "query, fragment"],
  ] as const)
    test(`differs in: ${difference}`, () =>
      assert.deepEqual(nearestRedirect(registered, uri), { registered: APP, difference }));

  test("is none if none is registered", () => assert.equal(nearestRedirect([], APP), null));
});

suite("a redirect URI that is to be registered", () => {
  for (const uri of [...REGISTERED, "http://192.168.1.10:2283/auth/login", "audiobookshelf://oauth"])
    test(`may be ${uri}`, () => assert.equal(redirectFault(uri), null));

  for (const [uri, fault] of [
    ["/oauth/callback", /absolute/],
    ["//app.example.com/cb", /absolute/],
    ["app.example.com/cb", /absolute/],
    ["https://", /absolute/],
    ["https://bücher.example/cb", /ASCII/],
    ["https://app.example.com\\cb", /ASCII/],
    [`${APP}\n`, /ASCII/],
    [`${APP}#x`, /fragment/],
    ["https://app.example.com/*", /wildcard/],
    ["https://*.example.com/cb", /wildcard/],
    ["https://ada:pw@app.example.com/cb", /user/],
    [`${APP}?state=x`, /state/],
    [`${APP}?a=b&c%6fde=x`, /code/],
    ["javascript:alert(1)", /https, http/],
    ["Data:text/html,x", /https, http/],
  ] as const)
    test(`may not be ${JSON.stringify(uri)}`, () => assert.match(redirectFault(uri) ?? "", fault));
});
