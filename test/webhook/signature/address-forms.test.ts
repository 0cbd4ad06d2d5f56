import assert from "node:assert/strict";
import type { IncomingHttpHeaders } from "node:http";
import { test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { addressesOf } from "../../../src/webhook/signature/address-forms.ts";
import type { AddressForm } from "../../../src/webhook/signature/schemes.ts";

function urlsOf(
  origin: string,
  target: string,
  forms: readonly AddressForm[],
  publicOrigin?: string,
  headers: IncomingHttpHeaders = {},
): string[] {
  const content = openContent(Buffer.alloc(0), "application/json");
  const request = { method: "POST", origin, target, headers, content };
  return addressesOf(request, publicOrigin, forms).map((one) => one.origin + one.target);
}

test("an address is as it was sent, and under the public origin", () => {
  assert.deepEqual(urlsOf("http://127.0.0.1:3000", "/hook?a=1", []), ["http://127.0.0.1:3000/hook?a=1"]);
  assert.deepEqual(urlsOf("http://127.0.0.1:3000", "/hook?a=1", [], "https://hooks.example.com"), [
    "http://127.0.0.1:3000/hook?a=1",
    "https://hooks.example.com/hook?a=1",
  ]);
});

test("the port may be there or not", () => {
  assert.deepEqual(urlsOf("https://a.example", "/", ["port"]), ["https://a.example/", "https://a.example:443/"]);
  assert.deepEqual(urlsOf("http://a.example", "/", ["port"]), ["http://a.example/", "http://a.example:80/"]);
  assert.deepEqual(urlsOf("https://a.example:8443", "/", ["port"]), ["https://a.example:8443/", "https://a.example/"]);
  assert.deepEqual(urlsOf("http://[::1]:3000", "/", ["port"]), ["http://[::1]:3000/", "http://[::1]/"]);
});

test("the query may be encoded anew, all of the target normalized, and some signs decoded", () => {
  assert.deepEqual(urlsOf("https://a.example", "/x?q=a'b c", ["query-encoded", "normalized"]), [
    "https://a.example/x?q=a'b c",
    "https://a.example/x?q=a'b%20c",
    "https://a.example/x?q=a%27b%20c",
  ]);
  assert.deepEqual(urlsOf("https://a.example", "/x?q=a%3Ab%2Fc%20d%3Fe", ["decoded"]), [
    "https://a.example/x?q=a%3Ab%2Fc%20d%3Fe",
    "https://a.example/x?q=a:b/c%20d?e",
  ]);
});

test("the user of the request may be in the address, and never ends the host of another", () => {
  const of = (user: string) => {
    const headers = { authorization: `Basic ${Buffer.from(user).toString("base64")}` };
    return urlsOf("https://a.example", "/x", ["credentials"], undefined, headers).slice(1);
  };
  assert.deepEqual(of("user:pa$$:w"), ["https://user:pa$$%3Aw@a.example/x"]);
  assert.deepEqual(of("user:"), ["https://user@a.example/x"]);
  assert.deepEqual(of("b.example/?é#@:"), ["https://b.example%2F%3F%C3%A9%23%40@a.example/x"]);
  assert.deepEqual(of("no colon"), []);
  assert.deepEqual(urlsOf("https://a.example", "/x", ["credentials"]), ["https://a.example/x"]);
});
