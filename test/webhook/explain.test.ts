import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { explainDelivery } from "../../src/webhook/explain.ts";
import { parseRawRequest } from "../../src/webhook/raw-request.ts";
import type { HmacScheme } from "../../src/webhook/schemes.ts";
import type { Source } from "../../src/webhook/source.ts";
import { sourceIn } from "../helpers/config-file.ts";
import { secretOf } from "../helpers/secret.ts";

const NOW = 1_800_000_000_000;
const KEY = "0011223344556677";

const SCHEME: HmacScheme = {
  type: "hmac",
  signature: { headers: ["x-sig"] },
  format: "bare",
  algorithm: "sha256",
  encodings: ["hex"],
  signed: "{timestamp}.{body}",
  timestamp: { header: "x-time" },
  key: "utf8",
};

const SOURCE: Source = {
  name: "shop",
  path: "/hooks/shop",
  preset: null,
  secrets: [secretOf("the newer secret", "env:NEW"), secretOf(KEY, "env:OLD")],
  schemes: [SCHEME],
  id: ["body:order"],
  type: ["header:x-topic"],
  dedupe: "bytes",
  contentTypes: ["application/json"],
  isEnvelope: false,
  addressMode: "enforce",
  bodyLimitBytes: 100,
};

const BODY = '{"order":"o_1"}';
const SECONDS = String(NOW / 1000);

const hmac = (text: string, key: string | Uint8Array = KEY) => createHmac("sha256", key).update(text).digest("hex");

function explain(
  headers: Record<string, string>,
  body = BODY,
  { source = SOURCE, target = "/hooks/shop" }: { source?: Source; target?: string } = {},
) {
  const lines = Object.entries({ "content-type": "application/json", "x-topic": "paid", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\n");
  const raw = parseRawRequest(Buffer.from(`POST ${target} HTTP/1.1\n${head}\n\n${body}`));
  assert.ok(typeof raw === "object");
  return explainDelivery(source, raw, { origin: "https://example.com", target }, NOW);
}

/** The detail of the one check that failed. */
function failure({ checks }: ReturnType<typeof explain>): string {
  const failed = checks.filter(({ ok }) => !ok);
  assert.equal(failed.length, 1, JSON.stringify(checks));
  return `${failed[0]?.name}: ${failed[0]?.detail}`;
}

const genuine = { "x-time": SECONDS, "x-sig": hmac(`${SECONDS}.${BODY}`) };

test("a genuine delivery passes every check, and shows its event and the secret's place", () => {
  const { checks, ...rest } = explain(genuine);
  assert.deepEqual(rest, {
    source: "shop",
    genuine: true,
    reason: null,
    secret: "env:OLD",
    eventId: "o_1",
    type: "paid",
  });
  assert.deepEqual(
    checks.flatMap(({ name, ok }) => [name, ok]),
    [
      ...["method", true, "path", true, "content_type", true, "body", true],
      ...["signature_header", true, "timestamp", true, "signature", true, "payload", true],
    ],
  );
});

test("path, media type and size are told apart from genuineness", () => {
  assert.equal(failure(explain(genuine, BODY, { target: "/other" })), "path: /other, but the source is at /hooks/shop");
  assert.match(failure(explain({ ...genuine, "content-type": "text/plain" })), /^content_type: text\/plain, expected/);
  const long = `{"order":"${"x".repeat(100)}"}`;
  assert.match(failure(explain({ ...genuine, "x-sig": hmac(`${SECONDS}.${long}`) }, long)), /^body: .* limit is 100$/);
  assert.equal(explain(genuine, BODY, { target: "/other" }).genuine, true);
});

test("a secret in the path is not shown", () => {
  const source = { ...SOURCE, schemes: [{ type: "token", path: true }] } as const;
  const explained = explain({}, BODY, { source, target: `/hooks/shop/${KEY}` });
  assert.equal(explained.genuine, true);
  assert.doesNotMatch(JSON.stringify(explained), new RegExp(KEY));
  const without = "path: /hooks/shop, but the source is at /hooks/shop/SECRET";
  assert.ok(explain({}, BODY, { source }).checks.some(({ name, detail }) => `${name}: ${detail}` === without));
});

test("a genuine delivery with a payload that is refused has no event", () => {
  const body = '{"order":"a\\u0000"}';
  const result = explain({ ...genuine, "x-sig": hmac(`${SECONDS}.${body}`) }, body);
  assert.deepEqual([result.genuine, result.eventId], [true, null]);
  assert.match(failure(result), /^payload: .*must not hold U\+0000/);
});

suite("the reason of a delivery that is not genuine", () => {
  for (const [reason, headers, detail] of [
    ["no_signature", { "x-time": SECONDS }, /nothing in x-sig/],
    ["malformed_signature", { ...genuine, "x-sig": "?" }, /no signature of the expected form/],
    ["timestamp_missing", { "x-sig": genuine["x-sig"] }, /none of the expected form/],
    ["timestamp_too_old", { ...genuine, "x-time": "1799999000" }, /1000 s ago; 300 s are allowed/],
    ["timestamp_in_future", { ...genuine, "x-time": "1800000301" }, /301 s ahead/],
    ["signature_mismatch", { ...genuine, "x-sig": "0".repeat(64) }, /none of the 2 secrets$/],
  ] as const) {
    test(reason, () => {
      const result = explain(headers as Record<string, string>);
      assert.deepEqual([result.genuine, result.reason, result.secret], [false, reason, null]);
      assert.match(failure(result), detail);
    });
  }
});

suite("a wrong signature names the usual mistake that explains it", () => {
  for (const [what, signature, body, hint] of [
    ["a line end was lost", hmac(`${SECONDS}.${BODY}\n`), BODY, /a line end at its end/],
    ["a line end was added", genuine["x-sig"], `${BODY}\n`, /without its last line end/],
    ["the JSON was written anew", genuine["x-sig"], '{ "order": "o_1" }', /compact JSON/],
    ["the key is hex", hmac(`${SECONDS}.${BODY}`, Buffer.from(KEY, "hex")), BODY, /decoded from hex/],
    ["the key is base64", hmac(`${SECONDS}.${BODY}`, Buffer.from(KEY, "base64")), BODY, /decoded from base64/],
  ] as const) {
    test(what, () => assert.match(failure(explain({ "x-time": SECONDS, "x-sig": signature }, body)), hint));
  }

  test("the address has another scheme", () => {
    const source = { ...SOURCE, schemes: [{ ...SCHEME, signed: "{url}.{timestamp}.{body}" }] };
    const signature = hmac(`http://example.com/hooks/shop.${SECONDS}.${BODY}`);
    assert.match(failure(explain({ ...genuine, "x-sig": signature }, BODY, { source })), /address http:\/\/example/);
  });
});

test("no text of an explanation has a secret or the signature that would be right", () => {
  const text = JSON.stringify(explain({ ...genuine, "x-sig": "0".repeat(64) }));
  for (const secret of [...SOURCE.secrets.map(({ value }) => value), genuine["x-sig"]]) {
    assert.equal(text.includes(secret), false);
  }
});

test("a delivery to a source whose keys the server has never fetched is explained so", () => {
  const source = sourceIn("{ preset: fal, path: /hooks/shop }");
  const headers = { "x-fal-webhook-request-id": "r", "x-fal-webhook-user-id": "u" };
  const signed = { ...headers, "x-fal-webhook-timestamp": SECONDS, "x-fal-webhook-signature": "ab".repeat(64) };
  const { checks } = explain(signed, BODY, { source });
  assert.equal(
    checks.find(({ name }) => name === "signature")?.detail,
    "made with none of the 1 keys (url:https://rest.fal.ai/.well-known/jwks.json was never read)",
  );
});
