import assert from "node:assert/strict";
import { test } from "node:test";
import { productOf } from "../../src/auth/open-session.ts";
import { coarseNetwork } from "../../src/lib/network.ts";

for (const [address, expected] of [
  ["203.0.113.77", "203.0.113.0/24"],
  ["10.0.0.1", "10.0.0.0/24"],
  ["2001:db8:1:2:3:4:5:6", "2001:db8:1::/48"],
  ["2001:db8::1", "2001:db8::/48"],
  ["2001:0:5::1", "2001:0:5::/48"],
  ["::1", "::/48"],
  ["fe80::1", "fe80::/48"],
] as const) {
  test(`the network of ${address} is ${expected}`, () => assert.equal(coarseNetwork(address), expected));
}

const MOZILLA = "Mozilla/5.0 (X11; Linux x86_64)";
for (const [header, expected] of [
  ["curl/8.11.0", "curl"],
  ["MyApp/1.0 (build 7; joe@example.com)", "MyApp"],
  ["python-requests/2.32", "python-requests"],
  ["Wget", "Wget"],
  [`${MOZILLA} Gecko/20100101 Firefox/140.0`, "Firefox"],
  [`${MOZILLA} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36`, "Chrome"],
  [`${MOZILLA} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36 Edg/140.0.0.0`, "Edge"],
  ["Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 Version/18.0 Mobile/15E148 Safari/604.1", "Safari"],
  ["Mozilla/5.0 (iPhone) AppleWebKit/605.1.15 CriOS/140.0 Mobile/15E148 Safari/604.1", "Chrome"],
  ["Mozilla/5.0 (compatible; somebody)", null],
  ["", null],
  ["joe@example.com", null],
  ["<script>alert(1)</script>", null],
  [`${"a".repeat(33)}/1`, null],
] as const) {
  test(`the user agent ${JSON.stringify(header.slice(0, 40))} is ${expected}`, () =>
    assert.equal(productOf(header), expected));
}
