import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { BlockList } from "node:net";
import { suite, test } from "node:test";
import { type DeliveryExplanation, type ExplainOptions, explainDelivery } from "../../../src/serve/explain/delivery.ts";
import { parseRawRequest } from "../../../src/webhook/held/raw-request.ts";
import type { HmacScheme } from "../../../src/webhook/signature/schemes.ts";
import type { Source } from "../../../src/webhook/source.ts";
import type { Route } from "../../../src/worker/route.ts";
import { routesIn, sourceIn } from "../../helpers/config-file.ts";
import { EXPLAIN_OPTIONS } from "../../helpers/explain-options.ts";
import { secretOf } from "../../helpers/secret.ts";

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

interface Changes extends Partial<ExplainOptions> {
  source?: Source;
  target?: string;
  method?: string;
}

function explain(
  headers: Record<string, string>,
  body = BODY,
  { source = SOURCE, target = "/hooks/shop", method = "POST", ...options }: Changes = {},
): Promise<DeliveryExplanation> {
  const lines = Object.entries({ "content-type": "application/json", "x-topic": "paid", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}`).join("\n");
  const raw = parseRawRequest(Buffer.from(`${method} ${target} HTTP/1.1\n${head}\n\n${body}`));
  assert.ok(typeof raw === "object");
  const sentTo = { origin: "https://example.com", target };
  return explainDelivery(source, raw, { ...EXPLAIN_OPTIONS, now: NOW, sentTo, ...options });
}

/** The checks that failed. */
const failures = ({ checks }: DeliveryExplanation) =>
  checks.flatMap(({ name, ok, detail }) => (ok ? [] : `${name}: ${detail}`));

/** The detail of the one check that failed. */
async function failure(explaining: Promise<DeliveryExplanation>): Promise<string> {
  const explained = await explaining;
  const [failed, ...others] = failures(explained);
  assert.deepEqual(others, [], JSON.stringify(explained.checks));
  assert.ok(explained.answer.status >= 400);
  return failed ?? "";
}

const genuine = { "x-time": SECONDS, "x-sig": hmac(`${SECONDS}.${BODY}`) };

test("a genuine delivery passes every check, and shows its event, its routes and the secret's place", async () => {
  const { checks, ...rest } = await explain(genuine);
  assert.deepEqual(rest, {
    source: "shop",
    genuine: true,
    reason: null,
    secret: "env:OLD",
    eventId: "o_1",
    type: "paid",
    answer: { status: 200, code: null, reason: null },
    handshake: null,
    routes: [{ route: "audit", unmet: null, expected: null, found: null }],
    verify: null,
  });
  assert.deepEqual(
    checks.flatMap(({ name, ok }) => [name, ok]),
    [
      ...["method", true, "path", true, "content_type", true, "body", true],
      ...["signature_header", true, "timestamp", true, "signature", true, "payload", true],
      ...["identity", true, "routes", true],
    ],
  );
});

test("the first check that fails is the one by which the server refuses", async () => {
  const allowedAddresses = new BlockList();
  allowedAddresses.addAddress("192.0.2.1");
  const source = { ...SOURCE, allowedAddresses, bodyLimitBytes: 1 };
  const explained = await explain(genuine, BODY, { source, address: "192.0.2.2" });
  assert.deepEqual(
    failures(explained).map((text) => text.split(":")[0]),
    ["address", "body"],
  );
  assert.equal(explained.answer.code, "address_not_allowed");
});

test("method, path, media type and size are told apart from genuineness", async () => {
  assert.equal(
    await failure(explain(genuine, BODY, { target: "/other" })),
    "path: /other, but the source is at /hooks/shop: change the address at the sender, or path of the source",
  );
  assert.equal(
    await failure(explain(genuine, BODY, { method: "PUT" })),
    "method: PUT, but deliveries are POST: let the sender use POST",
  );
  const long = `{"order":"${"x".repeat(100)}"}`;
  const signed = { ...genuine, "x-sig": hmac(`${SECONDS}.${long}`) };
  assert.match(await failure(explain(signed, long)), /^body: .* limit is 100: raise bodyLimit/);
  assert.equal((await explain(genuine, BODY, { target: "/other" })).genuine, true);
});

suite("a wrong content type has the cause that the server's log has", () => {
  const strict = { ...SOURCE, isEnvelope: true };
  for (const [type, source, detail, reason] of [
    [
      "text/plain",
      SOURCE,
      "text/plain, expected application/json: add it to contentTypes of the source",
      "content_type",
    ],
    ["", SOURCE, "none, expected application/json (no_content_type): change it at the sender", "no_content_type"],
    [
      "application/json\nContent-Type: text/plain",
      SOURCE,
      "several, expected application/json (several_content_types): change it at the sender",
      "several_content_types",
    ],
    [
      "application/json; charset=latin1",
      strict,
      "application/json; charset=latin1, which is not UTF-8, expected application/json (charset): change it at the sender",
      "charset",
    ],
  ] as const) {
    test(detail, async () => {
      const explained = explain({ ...genuine, "content-type": type }, BODY, { source });
      assert.equal(await failure(explained), `content_type: ${detail}`);
      const { answer } = await explained;
      assert.deepEqual(answer, { status: 415, code: "unsupported_media_type", reason });
    });
  }
});

test("an unknown content encoding is refused, and identity is none", async () => {
  const encoded = (coding: string) => explain({ ...genuine, "content-encoding": coding });
  assert.equal(await failure(encoded("gzip")), "content_encoding: gzip, expected none: set encoding of the source");
  assert.equal((await encoded("identity")).answer.status, 200);
});

suite("the sender's address", () => {
  const allowedAddresses = new BlockList();
  allowedAddresses.addAddress("192.0.2.1");
  const source = { ...SOURCE, allowedAddresses };
  const of = (address: string | undefined, changes: Changes = {}) =>
    explain(genuine, BODY, { source, address, ...changes });

  test("is checked against allowedAddresses", async () => {
    assert.equal((await of("192.0.2.1")).answer.status, 200);
    assert.equal(
      await failure(of("192.0.2.2")),
      "address: 192.0.2.2 is not in allowedAddresses: add it if it is the sender's",
    );
    assert.match(await failure(of(undefined)), /^address: the request does not say it/);
  });

  test("is that which a trusted proxy names", async () => {
    const trustedProxies = new BlockList();
    trustedProxies.addSubnet("10.0.0.0", 8);
    const by = (client: string) =>
      explain({ ...genuine, "x-forwarded-for": `203.0.113.1, ${client}, 10.0.0.9` }, BODY, { source, trustedProxies });
    assert.equal((await by("192.0.2.1")).answer.status, 200);
    assert.match(await failure(by("192.0.2.2")), /^address: 192\.0\.2\.2/);
  });

  test("is refused by 503 if it may be in a list that was never read", async () => {
    const unread = of("192.0.2.2", { addressLists: { find: () => "unknown" } });
    assert.match(await failure(unread), /^address: .* a list of addresses was never read/);
    assert.deepEqual((await unread).answer, { status: 503, code: "intake_paused", reason: "addresses_unknown" });
  });

  test("is only watched if the source says so", async () => {
    const watched = await of("192.0.2.2", { source: { ...source, addressMode: "watch" } });
    assert.equal(watched.answer.status, 200);
    assert.deepEqual(failures(watched), []);
  });
});

test("a secret in the path is not shown", async () => {
  const source = { ...SOURCE, schemes: [{ type: "token", path: true }] } as const;
  const explained = await explain({}, BODY, { source, target: `/hooks/shop/${KEY}` });
  assert.deepEqual([explained.genuine, explained.answer.status], [true, 200]);
  assert.doesNotMatch(JSON.stringify(explained), new RegExp(KEY));
  const mistyped = await explain({}, BODY, { source, target: `/hooks/shpo/${KEY}` });
  assert.doesNotMatch(JSON.stringify(mistyped), new RegExp(KEY));
  const { checks } = await explain({}, BODY, { source });
  assert.equal(
    checks.find(({ name }) => name === "path")?.detail,
    "/hooks/shop, but the source is at /hooks/shop/SECRET: change the address at the sender, or path of the source",
  );
});

test("a genuine delivery with a payload that is refused has no event", async () => {
  const body = '{"order":"a\\u0000"}';
  const result = explain({ ...genuine, "x-sig": hmac(`${SECONDS}.${body}`) }, body);
  assert.match(await failure(result), /^payload: .*must not hold U\+0000/);
  const { genuine: isGenuine, eventId, answer } = await result;
  assert.deepEqual([isGenuine, eventId, answer.code], [true, null, "invalid_payload"]);
});

// https://github.com/Adyen/adyen-go-api-library/blob/fed7311e5afd37f60f3bafe22173173164f2f297/src/hmacvalidator/hmacvalidator_test.go
test("broken JSON is refused where its signature may be that of another text, as of Adyen", async () => {
  const body = `{
    "type": "merchant.created",
    "environment": "test",
    "createdAt": "01-01-2024",
    "data": {
        "capabilities": {
            "sendToTransferInstrument": {
                "requested": true,
                "requestedLevel": "notApplicable"
            }
        },
        "companyId": "YOUR_COMPANY_ID",
        "merchantId": YOUR_MERCHANT_ACCOUNT",
        "status": "PreActive"
    }
}`;
  const secrets = [secretOf("DFB1EB5485895CFA84146406857104ABB4CBCABDC8AAF103A624C8F6A3EAAB00")];
  const source = { ...sourceIn("{ preset: adyen, secrets: [env:HEX], path: /hooks/shop }"), secrets };
  const headers = { hmacsignature: "yitBTPnDGtbAMG9rTxUa1e6lFGpa4PnrD6rErOmEhJ8=" };
  const explained = await explain(headers, body, { source });
  assert.deepEqual([explained.genuine, explained.answer.code], [true, "invalid_payload"]);
  const expected = "payload: the body must be an object or an array: let the sender change it";
  assert.equal(await failure(explain(headers, body, { source })), expected);
});

test("a body that is stored as it is says why", async () => {
  const body = '{"order":"o_1","order":"o_2"}';
  const { checks, answer } = await explain({ ...genuine, "x-sig": hmac(`${SECONDS}.${body}`) }, body);
  assert.equal(answer.status, 200);
  assert.match(
    checks.find(({ name }) => name === "payload")?.detail ?? "",
    /^stored as it is, but the body has a member/,
  );
});

suite("the reason of a delivery that is not genuine", () => {
  for (const [reason, headers, detail] of [
    ["no_signature", { "x-time": SECONDS }, /nothing in x-sig/],
    ["malformed_signature", { ...genuine, "x-sig": "?" }, /no signature of the expected form/],
    ["timestamp_missing", { "x-sig": genuine["x-sig"] }, /none of the expected form/],
    [
      "timestamp_too_old",
      { "x-time": "1799999000", "x-sig": hmac(`1799999000.${BODY}`) },
      /1000 s ago; 300 s are allowed/,
    ],
    ["timestamp_in_future", { "x-time": "1800000301", "x-sig": hmac(`1800000301.${BODY}`) }, /301 s ahead/],
    [
      "signature_mismatch",
      { ...genuine, "x-sig": "0".repeat(64) },
      /not made with env:NEW or env:OLD: copy the secret/,
    ],
  ] as const) {
    test(reason, async () => {
      const result = await explain(headers as Record<string, string>);
      assert.deepEqual([result.genuine, result.reason, result.secret], [false, reason, null]);
      assert.deepEqual(result.answer, { status: 403, code: "signature_mismatch", reason });
      const [failed, ...others] = failures(result);
      assert.match(failed ?? "", detail);
      assert.deepEqual(others, []);
    });
  }
});

test("a body that is too large is so in a capture without its end, too", async () => {
  const explained = await explain({ "x-time": SECONDS, "x-sig": "0".repeat(64), "content-length": "300" });
  assert.equal(explained.answer.status, 413);
  assert.ok(failures(explained).includes("body: 300 bytes, but the limit is 100: raise bodyLimit of the source"));
});

test("a time that is too far off does not hide the other checks", async () => {
  const { checks, genuine, eventId } = await explain({ "x-time": "1799999000", "x-sig": hmac(`1799999000.${BODY}`) });
  assert.deepEqual(
    checks.slice(5).map(({ name, ok }) => `${name} ${ok}`),
    ["timestamp false", "signature true", "payload true", "identity true", "routes true"],
  );
  assert.deepEqual([genuine, eventId], [false, null]);
  const wrong = await explain({ "x-time": "1799999000", "x-sig": "0".repeat(64) });
  assert.deepEqual(
    failures(wrong).map((text) => text.split(":")[0]),
    ["timestamp", "signature"],
  );
});

test("a retired secret is no longer accepted", async () => {
  const source = { ...SOURCE, retireMs: 1000 };
  const retired = explain(genuine, BODY, { source, acceptsSecret: async () => false });
  assert.equal(
    await failure(retired),
    "signature: made with env:OLD, which is retired: set the new secret at the sender",
  );
  assert.deepEqual([(await retired).genuine, (await retired).reason], [false, "secret_retired"]);
});

suite("a handshake is answered and is no event", () => {
  test("before the signature", async () => {
    const source = sourceIn("{ preset: woocommerce, secrets: [env:SECRET], path: /hooks/shop, handshake: true }");
    const ping = { "content-type": "application/x-www-form-urlencoded" };
    const explained = await explain(ping, "webhook_id=1", { source });
    assert.deepEqual([explained.answer.status, explained.handshake, explained.eventId], [200, "woocommerce", null]);
    assert.deepEqual(failures(explained), []);
  });

  test("by another method", async () => {
    const source = sourceIn("{ preset: trello, secrets: [env:SECRET], path: /hooks/shop, handshake: true }");
    const explained = await explain({}, "", { source, method: "HEAD" });
    assert.deepEqual([explained.answer.status, explained.handshake], [200, "trello"]);
    assert.deepEqual(failures(explained), []);
  });

  test("behind the signature", async () => {
    const source = { ...SOURCE, handshake: { kind: "zoom" } } as const;
    const body = '{"event":"endpoint.url_validation","payload":{"plainToken":"abc"}}';
    const explained = await explain({ ...genuine, "x-sig": hmac(`${SECONDS}.${body}`) }, body, { source });
    assert.deepEqual([explained.genuine, explained.handshake, explained.eventId], [true, "zoom", null]);
    assert.equal(explained.checks.at(-1)?.name, "handshake");
  });
});

test("each route says which of its conditions an event does not meet", async () => {
  const routes = routesIn(`
  - { name: all, log: {} }
  - { name: other, source: [shop], types: [refunded], log: {} }
  - { name: big, when: { amount: 10 }, log: {} }`);
  const explained = await explain(genuine, BODY, {
    routes: [...routes, { ...routes[0], name: "gone", sources: ["elsewhere"] } as Route],
  });
  assert.deepEqual(explained.routes, [
    { route: "all", unmet: null, expected: null, found: null },
    { route: "other", unmet: "types", expected: "refunded", found: "paid" },
    { route: "big", unmet: "when amount", expected: "10", found: null },
    { route: "gone", unmet: "source", expected: "elsewhere", found: "shop" },
  ]);
  const none = await explain(genuine, BODY, { routes: routes.slice(1) });
  assert.deepEqual(failures(none), [
    "routes: taken by none; not by other (types is paid, expected refunded), big (when amount is missing, expected 10): add or change a route, else nothing processes it",
  ]);
  assert.equal(none.answer.status, 200);
});

test("the identity says what makes a duplicate", async () => {
  const identity = async (dedupe: Source["dedupe"]) =>
    (await explain(genuine, BODY, { source: { ...SOURCE, dedupe } })).checks.find(({ name }) => name === "identity")
      ?.detail;
  assert.equal(await identity("bytes"), "o_1 of type paid; a duplicate is the same id");
  assert.equal(await identity(60_000), "o_1 of type paid; a duplicate is the same bytes within 60 s");
  assert.equal(await identity("off"), "o_1 of type paid; nothing is a duplicate");
});

test("a request that HTTP does not allow is refused", async () => {
  assert.match(
    await failure(explain({ ...genuine, host: "a b" }, BODY, { sentTo: undefined })),
    /^answer: .* 400 bad_request: capture/,
  );
});

suite("a wrong signature names the usual mistake that explains it", () => {
  for (const [what, signature, body, hint] of [
    ["a line end was lost", hmac(`${SECONDS}.${BODY}\n`), BODY, /a line end at its end/],
    ["a line end was added", genuine["x-sig"], `${BODY}\n`, /without its last line end/],
    ["the JSON was written anew", genuine["x-sig"], '{ "order": "o_1" }', /compact JSON/],
    ["the key is hex", hmac(`${SECONDS}.${BODY}`, Buffer.from(KEY, "hex")), BODY, /decoded from hex/],
    ["the key is base64", hmac(`${SECONDS}.${BODY}`, Buffer.from(KEY, "base64")), BODY, /decoded from base64/],
  ] as const) {
    test(what, async () => assert.match(await failure(explain({ "x-time": SECONDS, "x-sig": signature }, body)), hint));
  }

  for (const [what, value, key, hint] of [
    [
      "the prefix is missing",
      "c2VjcmV0LXNlY3JldA==",
      "whsec_c2VjcmV0LXNlY3JldA==",
      /env:A with whsec_ before it: write whsec_/,
    ],
    [
      "the prefix is too much",
      "whsec_c2VjcmV0LXNlY3JldA==",
      "c2VjcmV0LXNlY3JldA==",
      /env:A without its whsec_, as text: remove/,
    ],
    [
      "the prefix is decoded behind",
      "whsec_c2VjcmV0LXNlY3JldA==",
      Buffer.from("secret-secret"),
      /env:A decoded after whsec_/,
    ],
  ] as const) {
    test(`of whsec_: ${what}`, async () => {
      const source = { ...SOURCE, secrets: [secretOf(value, "env:A")] };
      const headers = { "x-time": SECONDS, "x-sig": hmac(`${SECONDS}.${BODY}`, key) };
      assert.match(await failure(explain(headers, BODY, { source })), hint);
    });
  }

  test("the address has another scheme", async () => {
    const source = { ...SOURCE, schemes: [{ ...SCHEME, signed: "{url}.{timestamp}.{body}" }] };
    const signature = hmac(`http://example.com/hooks/shop.${SECONDS}.${BODY}`);
    assert.match(
      await failure(explain({ ...genuine, "x-sig": signature }, BODY, { source })),
      /address http:\/\/example/,
    );
  });
});

test("no text of an explanation has a secret or the signature that would be right", async () => {
  const text = JSON.stringify(await explain({ ...genuine, "x-sig": "0".repeat(64) }));
  for (const secret of [...SOURCE.secrets.map(({ value }) => value), genuine["x-sig"]]) {
    assert.equal(text.includes(secret), false);
  }
});

test("a delivery to a source whose keys the server has never fetched is explained so", async () => {
  const source = sourceIn("{ preset: fal, path: /hooks/shop }");
  const headers = { "x-fal-webhook-request-id": "r", "x-fal-webhook-user-id": "u" };
  const signed = { ...headers, "x-fal-webhook-timestamp": SECONDS, "x-fal-webhook-signature": "ab".repeat(64) };
  const { checks } = await explain(signed, BODY, { source });
  assert.equal(
    checks.find(({ name }) => name === "signature")?.detail,
    "not made with url:https://rest.fal.ai/.well-known/jwks.json, which was never read: run authserve doctor",
  );
});
