import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { test } from "node:test";
import { storedHeaders } from "../../src/webhook/content/stored-headers.ts";
import { requestWith } from "../helpers/requests.ts";

const CONFIDENTIAL = [
  "Authorization",
  "Proxy-Authorization",
  "Cookie",
  "X-Signature",
  "X-Hub-Signature",
  "X-Hub-Signature-256",
  "Stripe-Signature",
  "Webhook-Signature",
  "Svix-Signature",
  "X-Shopify-Hmac-Sha256",
  "X-Gitlab-Token",
  "X-Trello-Webhook",
  "X-Api-Key",
  "X-Webhook-Secret",
  "PayPal-Transmission-Sig",
  "X-Nowpayments-Sig",
  "BTCPay-Sig",
  "X-Sig",
  "CF-Webhook-Auth",
  "CF-Access-Jwt-Assertion",
  "X-Goog-IAP-JWT-Assertion",
  "X-Amzn-Oidc-Data",
  "Verif-Hash",
  "Plaid-Verification",
  "X-Payload-Digest",
];
const KEPT = [
  "User-Agent",
  "Content-Type",
  "X-Event-Type",
  "X-Request-ID",
  "X-GitHub-Delivery",
  "Webhook-Id",
  "X-Design",
  "X-Author",
];

/** The stored headers, parsed. */
const keptOf = (request: IncomingMessage) => JSON.parse(storedHeaders(request.headers)) as Record<string, string>;

test("confidential headers are not stored, in any spelling", async () => {
  for (const spell of [(name: string) => name, (name: string) => name.toUpperCase()]) {
    const request = await requestWith([...CONFIDENTIAL, ...KEPT].map((name) => [spell(name), `value-of-${name}`]));
    const headers = keptOf(request);
    for (const name of CONFIDENTIAL) assert.ok(!JSON.stringify(headers).includes(`value-of-${name}`), name);
    for (const name of KEPT) assert.equal(headers[name.toLowerCase()], `value-of-${name}`);
  }
});

test("a header sent twice is stored as one", async () => {
  const request = await requestWith([
    ["X-Tag", "a"],
    ["X-Tag", "b"],
  ]);
  assert.equal(keptOf(request)["x-tag"], "a, b");
});

test("a signature sent twice is not stored", async () => {
  const request = await requestWith([
    ["X-Signature", "a"],
    ["X-Signature", "b"],
  ]);
  assert.deepEqual(Object.keys(keptOf(request)), ["host"]);
});
