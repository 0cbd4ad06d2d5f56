import assert from "node:assert/strict";
import { createHash, createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { suite, test } from "node:test";
import { formatMultipart } from "../../../src/lib/multipart.ts";
import { openContent } from "../../../src/webhook/content/content.ts";
import type { SignatureSettings } from "../../../src/webhook/signature/bound-scheme.ts";
import type { PublicKey } from "../../../src/webhook/signature/public-key.ts";
import type { Scheme } from "../../../src/webhook/signature/schemes.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { coversBody } from "../../../src/webhook/signature/signed-text.ts";
import { providerNamed } from "../../helpers/providers.ts";
import { secretOf } from "../../helpers/secret.ts";

const NOW = 1_800_000_000;
const SECRET = "a secret of the tests";
const FORM = "application/x-www-form-urlencoded";

interface Sent {
  headers?: Record<string, string>;
  body?: string;
  mediaType?: string;
  target?: string;
  by?: Partial<SignatureSettings>;
}

/** Verifies a delivery with schemes, or those of a preset. Returns `genuine` or why it is refused. */
function verdict(schemes: string | readonly Scheme[], sent: Sent): string {
  const { headers = {}, body = "", mediaType = "application/json", target = "/webhook/sender", by } = sent;
  const verifier = createVerifier({
    schemes: typeof schemes === "string" ? providerNamed(schemes).schemes : schemes,
    secrets: [secretOf(SECRET)],
    ...by,
  });
  const read = verifier.read(headers, NOW * 1000);
  if ("reason" in read) return read.reason;
  const content = openContent(Buffer.from(body), mediaType);
  const request = { method: "POST", origin: "https://hooks.example.com", target, headers, content };
  const verified = verifier.verify(request, read.candidates);
  return typeof verified === "string" ? verified : "genuine";
}

const keyOf = (key: KeyObject): PublicKey => ({ name: "env:KEY", mark: "", keys: [{ key, id: null, endsAt: null }] });
const hmac = (algorithm: string, text: string, key: string | Buffer = SECRET) =>
  createHmac(algorithm, key).update(text).digest("base64");

suite("a signature with a private key", () => {
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const other = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const scheme: Scheme = {
    type: "ecdsa",
    signature: { headers: ["x-sig"] },
    format: "bare",
    algorithm: "sha256",
    encodings: ["hex", "base64"],
    signed: "{body}",
  };
  const by = { keys: [keyOf(other.publicKey), keyOf(ec.publicKey)] };
  const signed = (dsaEncoding: "der" | "ieee-p1363") =>
    sign("sha256", Buffer.from("{}"), { key: ec.privateKey, dsaEncoding });

  test("of ECDSA is DER or two numbers, in hex or base64, and any of the keys verifies it", () => {
    for (const dsaEncoding of ["der", "ieee-p1363"] as const) {
      for (const encoding of ["hex", "base64"] as const) {
        const headers = { "x-sig": signed(dsaEncoding).toString(encoding) };
        assert.equal(verdict([scheme], { headers, body: "{}", by }), "genuine");
        assert.equal(verdict([scheme], { headers, body: "[]", by }), "signature_mismatch");
        assert.equal(
          verdict([scheme], { headers, body: "{}", by: { keys: [keyOf(other.publicKey)] } }),
          "signature_mismatch",
        );
      }
    }
  });

  test("of another type of key is never right", () => {
    const { publicKey } = generateKeyPairSync("ed25519");
    const headers = { "x-sig": signed("der").toString("hex") };
    assert.equal(verdict([scheme], { headers, body: "{}", by: { keys: [keyOf(publicKey)] } }), "signature_mismatch");
    assert.equal(verdict([scheme], { headers, body: "{}" }), "signature_mismatch");
    assert.equal(verdict([scheme], { headers: { "x-sig": "?" }, body: "{}", by }), "malformed_signature");
  });
});

suite("Amazon SNS", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const by = { keys: [keyOf(publicKey)] };
  const message = {
    Type: "Notification",
    MessageId: "1",
    TopicArn: "arn:aws:sns:eu:1:a",
    Message: "m",
    Timestamp: "t",
  };
  const text = "Message\nm\nMessageId\n1\nTimestamp\nt\nTopicArn\narn:aws:sns:eu:1:a\nType\nNotification\n";
  const delivered = (members: object, algorithm = "sha256") => ({
    body: JSON.stringify({ ...members, Signature: sign(algorithm, Buffer.from(text), privateKey).toString("base64") }),
    mediaType: "text/plain",
    by,
  });

  test("signs the members that are there, with either hash", () => {
    for (const algorithm of ["sha1", "sha256"])
      assert.equal(verdict("aws_sns", delivered(message, algorithm)), "genuine");
  });

  test("is only of the topic that the source names", () => {
    const options = { topicArn: "arn:aws:sns:eu:1:a" };
    assert.equal(verdict("aws_sns", { ...delivered(message), by: { ...by, options } }), "genuine");
    const other = { topicArn: "arn:aws:sns:eu:2:a" };
    assert.equal(verdict("aws_sns", { ...delivered(message), by: { ...by, options: other } }), "signature_mismatch");
  });

  test("has no members that are lines of another", () => {
    const forged = { Type: "Notification", MessageId: "1\nTimestamp\nt", TopicArn: message.TopicArn, Message: "m" };
    assert.equal(verdict("aws_sns", delivered(forged)), "signature_mismatch");
    const first = { ...message, Message: "m\nMessageId\n1", MessageId: undefined };
    assert.equal(verdict("aws_sns", delivered(first)), "signature_mismatch");
  });

  test("has no members added to a message that was signed without them", () => {
    assert.equal(verdict("aws_sns", delivered({ ...message, Subject: "new" })), "signature_mismatch");
    assert.equal(verdict("aws_sns", delivered({ ...message, Type: "Other" })), "no_signature");
  });
});

suite("Adyen", () => {
  const key = "44782def547aaa06c910c43932b1eb0c71fc68d9d0c057550c48ec2acf6ba056";
  const item = (reference: string, signedReference = reference, value = 1130) => {
    const text = `7914073381342284::TestMerchant:${signedReference}:${value}:EUR:AUTHORISATION:true`;
    return {
      NotificationRequestItem: {
        additionalData: { hmacSignature: hmac("sha256", text, Buffer.from(key, "hex")) },
        amount: { value: 1130, currency: "EUR" },
        pspReference: "7914073381342284",
        eventCode: "AUTHORISATION",
        merchantAccountCode: "TestMerchant",
        merchantReference: reference,
        success: "true",
      },
    };
  };
  const verdictOf = (...notificationItems: object[]) =>
    verdict("adyen", { body: JSON.stringify({ notificationItems }), by: { secrets: [secretOf(key)] } });

  test("signs each item, and all must be right", () => {
    assert.equal(verdictOf(item("one")), "genuine");
    assert.equal(verdictOf(item("one"), item("two")), "genuine");
    assert.equal(verdictOf(item("one"), item("two", "two", 1)), "signature_mismatch");
    assert.equal(verdictOf(item("one"), { NotificationRequestItem: {} }), "no_signature");
    assert.equal(verdictOf(), "no_signature");
  });

  test("has no part of a field in its neighbour", () => {
    const moved = item("one", "cust7:one");
    const request = { ...moved.NotificationRequestItem, merchantAccountCode: "TestMerchant:cust7" };
    assert.equal(verdictOf({ NotificationRequestItem: request }), "signature_mismatch");
  });

  test("may escape colons or not", () => {
    assert.equal(verdictOf(item("a:b\\c")), "genuine");
    assert.equal(verdictOf(item("a:b\\c", "a\\:b\\\\c")), "genuine");
  });
});

suite("Twilio", () => {
  const url = "https://hooks.example.com/webhook/sender";
  const digest = createHash("sha256").update("{}").digest("hex");
  const signedOver = (text: string) => ({ headers: { "x-twilio-signature": hmac("sha1", text) } });

  test("signs the fields of a form behind the address", () => {
    assert.equal(verdict("twilio", { ...signedOver(`${url}A1B2`), body: "B=2&A=1", mediaType: FORM }), "genuine");
    assert.equal(
      verdict("twilio", { ...signedOver(`${url}A1B2`), body: "B=2&A=3", mediaType: FORM }),
      "signature_mismatch",
    );
  });

  test("signs a body of JSON by its digest in the query", () => {
    const target = `/webhook/sender?bodySHA256=${digest}`;
    const signed = signedOver(`https://hooks.example.com${target}`);
    assert.equal(verdict("twilio", { ...signed, target, body: "{}" }), "genuine");
    assert.equal(verdict("twilio", { ...signed, target, body: "[]" }), "signature_mismatch");
    assert.equal(verdict("twilio", { ...signedOver(url), body: "{}" }), "signature_mismatch");
    assert.equal(verdict("twilio", { ...signed, target, body: "", mediaType: FORM }), "signature_mismatch");
  });

  test("does not take the fields of a form for the digest of a body", () => {
    const field = `?bodySHA256=${digest}&`;
    const signed = signedOver(`${url}Body${field}To1`);
    const body = String(new URLSearchParams({ Body: field, To: "1" }));
    assert.equal(verdict("twilio", { ...signed, body, mediaType: FORM }), "genuine");
    assert.equal(
      verdict("twilio", { ...signed, target: `/webhook/senderBody${field}To1`, body: "{}" }),
      "signature_mismatch",
    );
  });

  test("may sign the address with its port, and of the public origin", () => {
    const form = { body: "A=1", mediaType: FORM };
    const publicOrigin = "https://public.example:8443";
    assert.equal(
      verdict("twilio", { ...signedOver("https://hooks.example.com:443/webhook/senderA1"), ...form }),
      "genuine",
    );
    assert.equal(
      verdict("twilio", { ...signedOver("https://public.example/webhook/senderA1"), ...form }),
      "signature_mismatch",
    );
    assert.equal(
      verdict("twilio", { ...signedOver("https://public.example/webhook/senderA1"), ...form, by: { publicOrigin } }),
      "genuine",
    );
  });
});

suite("a secret in the delivery", () => {
  test("is in each notification of Microsoft Graph", () => {
    const bodyOf = (...states: string[]) => JSON.stringify({ value: states.map((clientState) => ({ clientState })) });
    assert.equal(verdict("ms_graph", { body: bodyOf(SECRET, SECRET) }), "genuine");
    assert.equal(verdict("ms_graph", { body: bodyOf(SECRET, "other") }), "signature_mismatch");
    assert.equal(verdict("ms_graph", { body: bodyOf() }), "no_signature");
    assert.equal(verdict("ms_graph", { body: '{"value":[{}]}' }), "no_signature");
  });

  test("is in the query of Event Grid", () => {
    const target = (code: string) => `/webhook/sender?code=${encodeURIComponent(code)}`;
    assert.equal(verdict("azure_eventgrid", { target: target(SECRET), body: "[]" }), "genuine");
    assert.equal(verdict("azure_eventgrid", { target: target("other"), body: "[]" }), "signature_mismatch");
    assert.equal(verdict("azure_eventgrid", { body: "[]" }), "no_signature");
  });
});

test("Worldpay names its key before each signature", () => {
  const signature = createHmac("sha256", SECRET).update("{}").digest("hex");
  const headers = { "event-signature": `1/SHA256/${"0".repeat(64)},2/SHA256/${signature}` };
  assert.equal(verdict("worldpay", { headers, body: "{}" }), "genuine");
  assert.equal(verdict("worldpay", { headers, body: "[]" }), "signature_mismatch");
});

test("eBay's signature is in JSON in base64", () => {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const signature = sign("sha1", Buffer.from("{}"), privateKey).toString("base64");
  const headerOf = (value: object) => ({ "x-ebay-signature": Buffer.from(JSON.stringify(value)).toString("base64") });
  const by = { keys: [keyOf(publicKey)] };
  assert.equal(verdict("ebay", { headers: headerOf({ kid: "1", signature }), body: "{}", by }), "genuine");
  assert.equal(verdict("ebay", { headers: headerOf({ kid: "1", signature }), body: "[]", by }), "signature_mismatch");
  assert.equal(verdict("ebay", { headers: headerOf({ kid: "1" }), body: "{}", by }), "malformed_signature");
});

test("Persona repeats time and signature for each of its secrets", () => {
  const pairs = (key: string) => `t=${NOW},v1=${createHmac("sha256", key).update(`${NOW}.{}`).digest("hex")}`;
  const headers = { "persona-signature": `${pairs("the old one")} ${pairs(SECRET)}` };
  assert.equal(verdict("persona", { headers, body: "{}" }), "genuine");
  assert.equal(verdict("persona", { headers, body: "[]" }), "signature_mismatch");
});

suite("Contentful", () => {
  const text = (topic: string, body = "{}") =>
    `POST\n/webhook/sender\nx-contentful-signed-headers:${LIST};x-contentful-timestamp:${NOW * 1000};x-contentful-topic:${topic}\n${body}`;
  const LIST = "x-contentful-signed-headers,x-contentful-timestamp,x-contentful-topic";
  const sent = (signed: string, changed: Record<string, string> = {}) => ({
    body: "{}",
    headers: {
      "x-contentful-signed-headers": LIST,
      "x-contentful-timestamp": String(NOW * 1000),
      "x-contentful-topic": "Entry.publish",
      "x-contentful-signature": createHmac("sha256", SECRET).update(signed).digest("hex"),
      ...changed,
    },
  });

  test("signs method, path, the headers that it lists, and the body", () => {
    assert.equal(verdict("contentful", sent(text("Entry.publish"))), "genuine");
    assert.equal(verdict("contentful", sent(text("Entry.save"))), "signature_mismatch");
    assert.equal(verdict("contentful", sent(text("Entry.publish", "[]"))), "signature_mismatch");
  });

  test("signs nothing without its time and its list", () => {
    const signed = "POST\n/webhook/sender\nx-contentful-topic:Entry.publish\n{}";
    const list = { "x-contentful-signed-headers": "x-contentful-topic" };
    assert.equal(verdict("contentful", sent(signed, list)), "signature_mismatch");
  });
});

test("Dropbox Sign signs time and type of the event, in the JSON of a form", () => {
  const event = { event_time: String(NOW), event_type: "signature_request_sent" };
  const event_hash = createHmac("sha256", SECRET)
    .update(event.event_time + event.event_type)
    .digest("hex");
  const bodyOf = (json: object) => String(new URLSearchParams({ json: JSON.stringify({ event: json }) }));
  const verdictOf = (json: object) => verdict("dropbox_sign", { body: bodyOf(json), mediaType: FORM });
  assert.equal(verdictOf({ ...event, event_hash }), "genuine");
  assert.equal(verdictOf({ ...event, event_hash, event_type: "signature_request_signed" }), "signature_mismatch");
  assert.equal(verdictOf({ ...event, event_hash, event_time: String(NOW - 5 * 86_400) }), "timestamp_too_old");
});

test("Travis CI signs the payload in a form with RSA and SHA-1", () => {
  const { privateKey, publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
  const headers = { signature: sign("sha1", Buffer.from('{"id":1}'), privateKey).toString("base64") };
  const verdictOf = (payload: string) =>
    verdict("travis", {
      headers,
      body: String(new URLSearchParams({ payload })),
      mediaType: FORM,
      by: { keys: [keyOf(publicKey)] },
    });
  assert.equal(verdictOf('{"id":1}'), "genuine");
  assert.equal(verdictOf('{"id":2}'), "signature_mismatch");
});

test("Mailgun signs time and token, also in the fields of a mail with attachments", () => {
  const fields = { timestamp: String(NOW), token: "t0k3n" };
  const signature = createHmac("sha256", SECRET).update(`${NOW}t0k3n`).digest("hex");
  const verdictOf = (sent: Record<string, string>) =>
    verdict("mailgun", {
      body: formatMultipart(Object.entries(sent), "b"),
      mediaType: "multipart/form-data; boundary=b",
    });
  assert.equal(verdictOf({ ...fields, signature }), "genuine");
  assert.equal(verdictOf({ ...fields, signature, token: "other" }), "signature_mismatch");
});

test("Mercado Pago signs no value that could be two", () => {
  const [ts, key] = [String(NOW), SECRET];
  const signedOver = (text: string) => createHmac("sha256", key).update(text).digest("hex");
  const sent = (text: string, id: string, requestId?: string) =>
    verdict("mercado_pago", {
      target: `/webhook/sender?data.id=${encodeURIComponent(id)}`,
      headers: { "x-signature": `ts=${ts},v1=${signedOver(text)}`, ...(requestId && { "x-request-id": requestId }) },
    });
  const text = `id:1;request-id:a;ts:${ts};`;
  assert.equal(sent(text, "1", "a"), "genuine");
  assert.equal(sent(text, "1;request-id:a"), "signature_mismatch");
});

suite("a signed digest of the body", () => {
  const BODY = '{"order":1}';
  const signedWith = (placeholder: string): Scheme => ({
    type: "hmac",
    signature: { headers: ["x-sig"] },
    format: "bare",
    algorithm: "sha256",
    encodings: ["base64"],
    signed: `v1.${placeholder}`,
    key: "utf8",
  });
  const digest = (name: string, encoding: "hex" | "base64") => createHash(name).update(BODY).digest(encoding);

  for (const [placeholder, text] of [
    ["{body-sha256-hex}", digest("sha256", "hex")],
    ["{body-sha512-base64}", digest("sha512", "base64")],
    ["{body-sha1-hex}", digest("sha1", "hex")],
  ] as const) {
    test(`is ${placeholder}, which covers the body`, () => {
      const headers = { "x-sig": hmac("sha256", `v1.${text}`) };
      assert.equal(verdict([signedWith(placeholder)], { headers, body: BODY }), "genuine");
      assert.equal(verdict([signedWith(placeholder)], { headers, body: `${BODY} ` }), "signature_mismatch");
      assert.ok(coversBody({ signed: placeholder }));
    });
  }

  test("is {body-md5-base64} in the example of Sinch", () => {
    // https://developers.sinch.com/docs/voice/api-reference/authentication/callback-signed-request
    const scheme: Scheme = {
      type: "hmac",
      signature: { headers: ["authorization"] },
      format: "bare",
      label: "application 669E367E-6BBA-48AB-AF15-266871C28135:",
      algorithm: "sha256",
      encodings: ["base64"],
      signed: "{method}\n{body-md5-base64}\n{header:content-type}\nx-timestamp:{header:x-timestamp}\n{path}",
      key: "base64",
    };
    const sent = {
      headers: {
        authorization: `${scheme.label}Tg6fMyo8mj9pYfWQ9ssbx3Tc1BNC87IEygAfLbJqZb4=`,
        "content-type": "application/json",
        "x-timestamp": "2014-09-24T10:59:41Z",
      },
      body: '{"event":"ace","callid":"822aa4b7-05b4-4d83-87c7-1f835ee0b6f6_257","timestamp":"2014-09-24T10:59:41Z","version":1}',
      target: "/sinch/callback/ace",
      by: { secrets: [secretOf("BeIukql3pTKJ8RGL5zo0DA==")] },
    };
    assert.equal(verdict([scheme], sent), "genuine");
    assert.equal(verdict([scheme], { ...sent, body: "{}" }), "signature_mismatch");
  });
});
