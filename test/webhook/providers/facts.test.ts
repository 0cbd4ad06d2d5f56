import assert from "node:assert/strict";
import { createHmac, hash } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import { suite, test } from "node:test";
import { isInRanges } from "../../../src/lib/header-value.ts";
import { openContent } from "../../../src/webhook/content/content.ts";
import { providerOf } from "../../../src/webhook/providers/index.ts";
import type { Scheme } from "../../../src/webhook/signature/schemes.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { identify } from "../../../src/webhook/stages/identity.ts";
import { requirePayload } from "../../../src/webhook/stages/payload.ts";
import { sourceIn } from "../../helpers/config-file.ts";
import { secretOf } from "../../helpers/secret.ts";

const SECRET = "a secret of the tests";
const NOW = Date.parse("2026-11-20T12:00:00Z");

interface Sent {
  headers?: IncomingHttpHeaders;
  body: object;
}

/** What a source needs, when not any secret. */
const NEEDS: Record<string, string> = {
  google_pubsub: "options: { email: push@example.iam.gserviceaccount.com }",
  onfleet: "secrets: [env:HEX]",
  pipedrive: "secrets: [env:PAIR]",
  plaid:
    'keys: [\'{"kty":"EC","crv":"P-256","x":"WKn-ZIGevcwGIyyrzFoZNBdaq9_TsqzGl96oc0CWuis","y":"y77t-RvAHRKTsSGdIYUfweuOvwrvDD-Q3Hv5J0fSKbE"}\']',
};

/** What a delivery is known by: deliveries with the same are one event. */
function knownBy(slug: string, sent: Sent, nth: number): string {
  const { eventId, bytesSha256, sameWithinMs } = identityOf(slug, sent);
  return sameWithinMs === 0 ? `delivery ${nth}` : (bytesSha256 ?? eventId);
}

function identityOf(slug: string, { headers = {}, body }: Sent) {
  const source = sourceIn(`{ preset: ${slug}, ${NEEDS[slug] ?? "secrets: [env:SECRET]"} }`);
  const [scheme] = source.schemes;
  assert.ok(scheme);
  const signed = "signed" in scheme ? scheme.signed.matchAll(/\{header:([^}]+)\}/g) : [];
  const signedHeaders = [...signed].map(([, name = ""]) => name);
  const covers = { body: providerOf(slug)?.covers === "body", members: [], headers: signedHeaders };
  const content = openContent(Buffer.from(JSON.stringify(body)), "application/json");
  const verified = { scheme, secret: secretOf(SECRET), covers };
  return identify({ source, verified, headers, content });
}

const ONE_CHANGE = [{ id: "4410", field: "status" }];

suite("of two deliveries", () => {
  for (const [slug, what, areOne, first, second] of [
    ["shopify", "with the same bytes under two webhook ids", false, shopify("1"), shopify("2")],
    ["shopify", "with the same webhook id", true, shopify("1"), shopify("1")],
    ["woocommerce", "with the same bytes, of order.created and order.updated", false, woo("1"), woo("2")],
    ["sanity", "of two edits with the same projection", false, sanity("1"), sanity("2")],
    ["sanity", "with the same idempotency key", true, sanity("1"), sanity("1")],
    ["zendesk", "of a trigger that fired twice", false, zendesk("1"), zendesk("2")],
    ["zendesk", "of one invocation", true, zendesk("1"), zendesk("1")],
    ["linear", "that are one with another time", true, linear("1", 1000), linear("1", 61_000)],
    ["linear", "with two delivery ids", false, linear("1", 1000), linear("2", 1000)],
    ["gitlab", "of webhooks that set off each other", false, gitlab("1"), gitlab("2")],
    ["gitlab", "with the same idempotency key", true, gitlab("1"), gitlab("1")],
    ["plaid", "of two days", false, { body: { webhook_code: "X" } }, { body: { webhook_code: "X" } }],
    ["dropbox", "of two changes", false, { body: { delta: {} } }, { body: { delta: {} } }],
    ["ms_graph", "of two changes of a drive", false, { body: { value: [] } }, { body: { value: [] } }],
    ["clickup", "that share a history item", false, clickup("taskCreated"), clickup("taskStatusUpdated")],
    ["clickup", "that are the same", true, clickup("taskCreated"), clickup("taskCreated")],
    ["mux", "that are one, with another count of attempts", true, mux("1", 1), mux("1", 2)],
    ["mux", "of one asset", false, mux("1", 1), mux("2", 1)],
    ["bolt", "that share a transaction", false, bolt("auth"), bolt("capture")],
    ["google_pubsub", "with another deliveryAttempt", true, pubsub("1", 1), pubsub("1", 2)],
    ["google_pubsub", "with two message ids", false, pubsub("1", 1), pubsub("2", 1)],
    ["google_pubsub", "with the same bytes under two ids in headers", false, unwrapped("1"), unwrapped("2")],
    ["google_channels", "with two message numbers", false, channel("1", "2"), channel("1", "3")],
    ["google_channels", "of two channels", false, channel("1", "2"), channel("2", "2")],
    ["google_channels", "that are the same", true, channel("1", "2"), channel("1", "2")],
    ["bolt", "that are the same", true, bolt("auth"), bolt("auth")],
    ["docusign", "that are one, with another count of repeats", true, docusign("a", 0), docusign("a", 1)],
    ["docusign", "of one envelope", false, docusign("a", 0), docusign("b", 0)],
    ["docusign", "of one envelope at once, of two recipients", false, docusign("a", 0, "1"), docusign("a", 0, "2")],
    ["doppler", "of two changes", false, { body: { type: "t" } }, { body: { type: "t" } }],
    ["configcat", "of two changes", false, configcat("1"), configcat("2")],
    ["configcat", "that are the same", true, configcat("1"), configcat("1")],
    ["convoy", "with the same bytes under two keys", false, convoy("1"), convoy("2")],
    ["convoy", "with the same key", true, convoy("1"), convoy("1")],
    ["cloudevents", "with the same bytes under two ids", false, cloudEvent("/a", "1"), cloudEvent("/a", "2")],
    ["cloudevents", "with one id, of two sources", false, cloudEvent("/a", "1"), cloudEvent("/b", "1")],
    ["cloudevents", "with the same source and id", true, cloudEvent("/a", "1"), cloudEvent("/a", "1")],
    ["cloudevents", "with the same event first in two batches", false, batch("1"), batch("1", "2")],
    ["outpost", "with the same data under two event ids", false, outpost("1"), outpost("2")],
    ["outpost", "with the same event id", true, outpost("1"), outpost("1")],
    ["mongodb_atlas", "with the body of a template", false, { body: { text: "Alert" } }, { body: { text: "Alert" } }],
    ["viber", "that say of one message that it arrived and was seen", false, viber("delivered"), viber("seen")],
    ["attio", "of two changes of one attribute", false, attio("1"), attio("2")],
    ["attio", "with the same idempotency key", true, attio("1"), attio("1")],
    ["pipedrive", "that are two attempts", true, pipedrive("1", 1), pipedrive("1", 2)],
    ["pipedrive", "of two changes", false, pipedrive("1", 1), pipedrive("2", 1)],
    ["pipedrive", "of version 1 that are two attempts", true, pipedriveV1("1", 0), pipedriveV1("1", 1)],
    ["pipedrive", "of version 1 of one object", false, pipedriveV1("1", 0), pipedriveV1("2", 0)],
    ["alertmanager", "of an alert that goes on", false, { body: { status: "firing" } }, { body: { status: "firing" } }],
    ["grafana", "of an alert that goes on", false, { body: { status: "firing" } }, { body: { status: "firing" } }],
    ["webex", "of two changes", false, { body: { resource: "rooms" } }, { body: { resource: "rooms" } }],
    ["harbor", "of two pulls in a second", false, { body: { occur_at: 1 } }, { body: { occur_at: 1 } }],
  ] as [string, string, boolean, Sent, Sent][]) {
    test(`of ${slug} ${what} ${areOne ? "the second is a duplicate" : "both are events"}`, () => {
      assert.equal(knownBy(slug, first, 1) === knownBy(slug, second, 2), areOne);
    });
  }
});

test("the type of an event of Onfleet is the name of its trigger", () => {
  assert.equal(identityOf("onfleet", { body: { triggerId: 3, triggerName: "taskCompleted" } }).type, "taskCompleted");
});

function shopify(id: string): Sent {
  return { headers: { "x-shopify-webhook-id": id, "x-shopify-event-id": "e" }, body: { id: 1 } };
}

function woo(id: string): Sent {
  return { headers: { "x-wc-webhook-delivery-id": id }, body: { id: 727 } };
}

function sanity(key: string): Sent {
  return { headers: { "idempotency-key": key }, body: { _type: "post", slug: "first" } };
}

function zendesk(id: string): Sent {
  return { headers: { "x-zendesk-webhook-invocation-id": id }, body: { id: "35", type: "ticket" } };
}

function linear(id: string, webhookTimestamp: number): Sent {
  return { headers: { "linear-delivery": id }, body: { type: "Issue", webhookTimestamp } };
}

function gitlab(key: string): Sent {
  const headers = { "idempotency-key": key, "x-gitlab-event-uuid": "shared", "x-gitlab-event": "Push Hook" };
  return { headers, body: { object_kind: "push" } };
}

function clickup(event: string): Sent {
  return { body: { event, history_items: ONE_CHANGE } };
}

function mux(id: string, attempt: number): Sent {
  return { body: { id, type: "video.asset.errored", object: { id: "ASSET" }, attempts: [{ attempt }] } };
}

function bolt(type: string): Sent {
  return { body: { id: "TRANSACTION", type } };
}

function docusign(time: string, retryCount: number, recipientId?: string): Sent {
  const data = { envelopeId: "ENVELOPE", ...(recipientId && { recipientId }) };
  return { body: { event: "recipient-completed", retryCount, configurationId: 7, generatedDateTime: time, data } };
}

function configcat(id: string): Sent {
  return { headers: { "x-configcat-webhook-id": id }, body: { deploy: true } };
}

function convoy(key: string): Sent {
  return { headers: { "x-convoy-idempotency-key": key }, body: { paid: true } };
}

function cloudEvent(source: string, id: string): Sent {
  return { headers: { "ce-source": source, "ce-id": id }, body: { on: true } };
}

function batch(...ids: string[]): Sent {
  return { body: ids.map((id) => ({ specversion: "1.0", source: "/a", id })) };
}

function outpost(id: string): Sent {
  return { headers: { "x-outpost-event-id": id, "x-outpost-topic": "user.updated" }, body: { user_id: "usr_123" } };
}

function viber(event: string): Sent {
  return { body: { event, message_token: 1457764197627 } };
}

function pubsub(messageId: string, deliveryAttempt: number): Sent {
  return { body: { message: { data: "", messageId }, subscription: "s", deliveryAttempt } };
}

function unwrapped(id: string): Sent {
  return { headers: { "x-goog-pubsub-message-id": id }, body: { changed: true } };
}

function channel(id: string, number: string): Sent {
  return { headers: { "x-goog-channel-id": id, "x-goog-message-number": number }, body: {} };
}

function attio(key: string): Sent {
  return { headers: { "idempotency-key": key }, body: { events: [{ event_type: "record.updated" }] } };
}

function pipedrive(id: string, attempt: number): Sent {
  return { body: { meta: { id, correlation_id: "c", entity: "deal", attempt }, data: { id: 4410 } } };
}

function pipedriveV1(timestamp_micro: string, retry: number): Sent {
  const meta = { id: 4410, webhook_id: "7", timestamp_micro };
  return { body: { event: "updated.deal", meta, retry } };
}

/** Whether a source of a preset takes a delivery at NOW: `genuine`, or why not. */
function verdict(
  slug: string,
  headers: IncomingHttpHeaders,
  body: string,
  mediaType = "application/json",
  query = "",
): string {
  const source = sourceIn(`{ preset: ${slug}, secrets: [env:SECRET] }`);
  const verifier = createVerifier(source);
  const read = verifier.read(headers, NOW);
  if ("reason" in read) return read.reason;
  const content = openContent(Buffer.from(body), mediaType);
  const target = `/webhook/shop${query}`;
  const request = { method: "POST", origin: "https://hooks.example.com", target, headers, content };
  const verified = verifier.verify(request, read.candidates);
  if (typeof verified === "string") return verified;
  requirePayload(source, content);
  return "genuine";
}

suite("the type of a delivery", () => {
  for (const [slug, body, type] of [
    ["ably", { items: [{ source: "channel.lifecycle", name: "channel.opened" }] }, "channel.opened"],
    ["ably", { source: "channel.message", channel: "a" }, "channel.message"],
    ["asana", { events: [{ action: "changed" }] }, "changed"],
    ["bird", { service: "channels", event: "whatsapp.inbound" }, "whatsapp.inbound"],
    ["bird", { type: "email.delivered", data: {} }, "email.delivered"],
    ["cloudevents", [{ type: "com.example.made" }], "com.example.made"],
  ] as const) {
    test(`of ${slug} is ${type}`, () => assert.equal(identityOf(slug, { body }).type, type));
  }
});

const hmac = (text: string, encoding: "hex" | "base64" = "hex", algorithm = "sha256") =>
  createHmac(algorithm, SECRET).update(text).digest(encoding);
const BODY = '{"id":"1","type":"t"}';

suite("a genuine delivery is accepted", () => {
  test("of Klaviyo, whose clock is five hours ahead", () => {
    const time = new Date(NOW + 5 * 3_600_000).toUTCString();
    const headers = { "klaviyo-timestamp": time, "klaviyo-signature": hmac(BODY + time) };
    assert.equal(verdict("klaviyo", headers, BODY), "genuine");
  });

  test("of Bird, which repeats it with the first time for hours", () => {
    const time = String(NOW / 1000 - 8 * 3600);
    const digest = createHmac("sha256", SECRET)
      .update(`${time}\nhttps://hooks.example.com/webhook/shop\n`)
      .update(hash("sha256", BODY, "buffer"))
      .digest("base64");
    const headers = { "messagebird-request-timestamp": time, "messagebird-signature": digest };
    assert.equal(verdict("bird", headers, BODY), "genuine");
  });

  for (const [unit, time] of [
    ["seconds", NOW / 1000],
    ["milliseconds", NOW],
  ] as const) {
    test(`of Mercado Pago, with a time in ${unit}`, () => {
      const signed = `id:77a;request-id:r;ts:${time};`;
      const headers = { "x-request-id": "r", "x-signature": `ts=${time},v1=${hmac(signed)}` };
      assert.equal(verdict("mercado_pago", headers, BODY, "application/json", "?data.id=77a"), "genuine");
    });
  }

  test("of Mollie, with the signatures of two secrets in two headers", () => {
    const other = createHmac("sha256", "another").update(BODY).digest("hex");
    for (const header of [`sha256=${hmac(BODY)}`, `sha256=${other}, sha256=${hmac(BODY)}`]) {
      assert.equal(verdict("mollie", { "x-mollie-signature": header }, BODY), "genuine", header);
    }
    assert.equal(verdict("mollie", { "x-mollie-signature": `sha256=${other}` }, BODY), "signature_mismatch");
  });

  test("of Bird's newer platform, which signs as Standard Webhooks", () => {
    const time = String(NOW / 1000);
    const signature = `v1,${hmac(`msg_1.${time}.${BODY}`, "base64")}`;
    const headers = { "webhook-id": "msg_1", "webhook-timestamp": time, "webhook-signature": signature };
    assert.equal(verdict("bird", headers, BODY), "genuine");
  });

  test("of DocuSign in XML, with the signature of the account's twelfth key", () => {
    const xml = "<DocuSignEnvelopeInformation/>";
    assert.equal(verdict("docusign", { "x-docusign-signature-12": hmac(xml, "base64") }, xml, "text/xml"), "genuine");
  });

  test("of Auth0 as JSON Lines, whatever they are called", () => {
    const lines = '{"log_id":"1"}\n{"log_id":"2"}\n';
    for (const mediaType of ["application/json", "application/x-ndjson"])
      assert.equal(verdict("auth0", { authorization: SECRET }, lines, mediaType), "genuine");
  });

  for (const [slug, headers] of [
    ["bolt", { "x-bolt-hmac-sha256-pending": hmac(BODY, "base64") }],
    ["aftership", { "as-signature-hmac-sha256": hmac(BODY, "base64") }],
    ["aftership", { "am-webhook-signature": `hmac-sha256=${hmac(BODY, "base64")}` }],
    ["terraform", { "x-tfc-task-signature": hmac(BODY, "hex", "sha512") }],
    ["mongodb_atlas", { "x-mms-signature": hmac(BODY, "hex", "sha1") }],
    ["front", { "x-front-signature": hmac(BODY, "base64", "sha1") }],
    ["webex", { "x-spark-signature": hmac(BODY, "hex", "sha1") }],
    ["attio", { "x-attio-signature": hmac(BODY) }],
    ["buymeacoffee", { "x-signature-sha256": hmac(BODY) }],
    ["alchemy", { "x-alchemy-signature": hmac(BODY) }],
    ["sparkpost", { "x-messagesystems-webhook-token": SECRET }],
    ["whatsapp", { "x-hub-signature-256": `sha256=${hmac(BODY)}` }],
  ] as [string, Record<string, string>][]) {
    test(`of ${slug} with ${Object.keys(headers)[0]}`, () => assert.equal(verdict(slug, headers, BODY), "genuine"));
  }

  const seconds = String(NOW / 1000);
  const other = "0".repeat(64);
  for (const [what, headers] of [
    ["with a time", { "x-outpost-signature": `t=${seconds},v0=${hmac(`${seconds}.${BODY}`)}` }],
    [
      "with a time and two secrets",
      { "x-outpost-signature": `t=${seconds},v0=${other},${hmac(`${seconds}.${BODY}`)}` },
    ],
    ["with two secrets", { "x-outpost-signature": `v0=${other},${hmac(BODY)}` }],
    [
      "in the form of Standard Webhooks",
      {
        "webhook-id": "evt_1",
        "webhook-timestamp": seconds,
        "webhook-signature": `v1,${hmac(`evt_1.${seconds}.${BODY}`, "base64")}`,
      },
    ],
  ] as [string, Record<string, string>][]) {
    test(`of Outpost ${what}`, () => assert.equal(verdict("outpost", headers, BODY), "genuine"));
  }

  test("of monday without a token of its own, with that of the URL", () => {
    assert.equal(verdict("monday", {}, BODY, "application/json", `?token=${encodeURIComponent(SECRET)}`), "genuine");
    assert.equal(verdict("monday", {}, BODY, "application/json", "?token=another"), "signature_mismatch");
    assert.equal(verdict("monday", {}, BODY), "no_signature");
  });

  test("of a route of Mailgun, as a form", () => {
    const form = (signature: string) =>
      `recipient=a%40example.com&timestamp=${seconds}&token=t1&signature=${signature}`;
    const mediaType = "application/x-www-form-urlencoded";
    assert.equal(verdict("mailgun", {}, form(hmac(`${seconds}t1`)), mediaType), "genuine");
    assert.equal(verdict("mailgun", {}, form(hmac(`${seconds}t2`)), mediaType), "signature_mismatch");
  });

  test("of Grafana, with a signed time and without", () => {
    const time = String(NOW / 1000);
    const signed = (text: string) => ({ "x-grafana-alerting-signature": hmac(text) });
    const timed = { ...signed(`${time}:${BODY}`), "x-grafana-alerting-timestamp": time };
    for (const headers of [timed, signed(BODY)]) assert.equal(verdict("grafana", headers, BODY), "genuine");
    assert.notEqual(verdict("grafana", signed(`${time}:${BODY}`), BODY), "genuine");
  });

  test("of Tailscale, which repeats it with the time of the event for a day", () => {
    const at = (time: number) => ({ "tailscale-webhook-signature": `t=${time},v1=${hmac(`${time}.${BODY}`)}` });
    assert.equal(verdict("tailscale", at(NOW / 1000 - 23 * 3600), BODY), "genuine");
    assert.equal(verdict("tailscale", at(NOW / 1000 - 25 * 3600), BODY), "timestamp_too_old");
  });

  test("of RevenueCat, with the signatures of two secrets", () => {
    const time = NOW / 1000;
    const header = `t=${time},v1=${"0".repeat(64)},v1=${hmac(`${time}.${BODY}`)}`;
    assert.equal(verdict("revenuecat", { "x-revenuecat-webhook-signature": header }, BODY), "genuine");
  });

  test("of Cloudflare Stream", () => {
    const time = NOW / 1000;
    const header = `time=${time},sig1=${hmac(`${time}.${BODY}`)}`;
    assert.equal(verdict("cloudflare_stream", { "webhook-signature": header }, BODY), "genuine");
  });

  test("of Plivo, with the secret of the main account and an older one", () => {
    const url = "https://hooks.example.com/webhook/shop";
    const headers = (text: string) => ({
      "x-plivo-signature-ma-v3": `${hmac("another", "base64")},${hmac(text, "base64")}`,
      "x-plivo-signature-v3-nonce": "n",
    });
    const form = "application/x-www-form-urlencoded";
    assert.equal(verdict("plivo", headers(`${url}?From1To2.n`), "To=2&From=1", form), "genuine");
    const sorted = headers(`${url}?a=1&b=x y.From1To2.n`);
    assert.equal(verdict("plivo", sorted, "To=2&From=1", form, "?b=x%20y&a=1"), "genuine");
    assert.equal(verdict("plivo", sorted, "To=2&From=1", form, "?b=x%20y&a=2"), "signature_mismatch");
    const same = headers(`${url}?a=1&a=2&b=Zo\u00eb.From1To2.n`);
    assert.equal(verdict("plivo", same, "To=2&From=1", form, "?b=Zo%C3%AB&a=2&a=1"), "genuine");
  });

  test("of Figma, with its passcode in the body", () => {
    assert.equal(verdict("figma", {}, JSON.stringify({ event_type: "PING", passcode: SECRET })), "genuine");
    assert.equal(
      verdict("figma", {}, JSON.stringify({ event_type: "PING", passcode: "another" })),
      "signature_mismatch",
    );
  });

  const basic = `Basic ${Buffer.from(SECRET).toString("base64")}`;
  for (const slug of ["alertmanager", "brevo", "datadog", "grafana", "newrelic", "sparkpost"]) {
    test(`of ${slug} with a token or a user and a password`, () => {
      for (const authorization of [`Bearer ${SECRET}`, `bearer ${SECRET}`, SECRET, basic])
        assert.equal(verdict(slug, { authorization }, BODY), "genuine", authorization);
      assert.equal(verdict(slug, { authorization: "Bearer another" }, BODY), "signature_mismatch");
    });
  }

  for (const slug of ["gitea", "gogs", "forgejo"]) {
    test(`of ${slug} as a form, of which it signs the payload`, () => {
      const form = `payload=${encodeURIComponent(BODY)}`;
      const headers = { [`x-${slug}-signature`]: hmac(BODY) };
      assert.equal(verdict(slug, headers, form, "application/x-www-form-urlencoded"), "genuine");
      assert.equal(verdict(slug, headers, BODY), "genuine");
      assert.equal(verdict(slug, headers, `${form}x`, "application/x-www-form-urlencoded"), "signature_mismatch");
    });
  }
});

const sourceOf = (slug: string) => sourceIn(`{ preset: ${slug}, secrets: [env:SECRET] }`);

suite("a source of a preset", () => {
  for (const [slug, mediaType] of [
    ["zendesk", "application/xml"],
    ["vercel", "application/x-ndjson"],
    ["worldpay", "application/vnd.worldpay.events-v1.hal+json"],
  ] as const) {
    test(`of ${slug} takes ${mediaType}`, () => assert.ok(isInRanges(mediaType, sourceOf(slug).contentTypes)));
  }

  for (const slug of ["slack", "wechat_pay"]) {
    test(`of ${slug} answers with an empty body`, () => assert.equal(providerOf(slug)?.acknowledgement?.text, ""));
  }

  test("of postmark refuses with 401, since 403 would be the last attempt", () => {
    assert.equal(providerOf("postmark")?.refusedStatus, 401);
  });

  test("of postmark takes attachments of 35 MB in base64", () => {
    assert.ok((providerOf("postmark")?.facts?.maxBodyBytes?.is ?? 0) > (35_000_000 * 4) / 3);
  });

  for (const [slug, type, body, mediaType] of [
    ["quickbooks", "qbo.customer.created.v1", '[{"specversion":"1.0","type":"qbo.customer.created.v1"}]'],
    ["pusher", "channel_vacated", '{"time_ms":1,"events":[{"name":"channel_vacated","channel":"c"}]}'],
    ["slack", "/deploy", "command=%2Fdeploy&text=now", "application/x-www-form-urlencoded"],
    ["vercel", "lambda", '[{"id":"1","source":"lambda"}]'],
  ] as [string, string, string, string?][]) {
    test(`of ${slug} finds the type ${type}`, () => {
      const source = sourceOf(slug);
      const content = openContent(Buffer.from(body), mediaType ?? "application/json");
      const covers = { body: true, members: [], headers: [] };
      const verified = { scheme: source.schemes[0] as Scheme, secret: secretOf(SECRET), covers };
      assert.equal(identify({ source, verified, headers: {}, content }).type, type);
    });
  }
});
