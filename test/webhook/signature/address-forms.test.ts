import assert from "node:assert/strict";
import { test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { addressesOf } from "../../../src/webhook/signature/address-forms.ts";
import type { AddressForm } from "../../../src/webhook/signature/schemes.ts";

function urlsOf(origin: string, target: string, forms: readonly AddressForm[], publicOrigin?: string): string[] {
  const content = openContent(Buffer.alloc(0), "application/json");
  const request = { method: "POST", origin, target, headers: {}, content };
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
