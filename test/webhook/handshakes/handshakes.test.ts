import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { AppError } from "../../../src/errors.ts";
import { openContent } from "../../../src/webhook/content/content.ts";
import type { Answer } from "../../../src/webhook/provider/handshake.ts";
import type { Secret } from "../../../src/webhook/signature/secret.ts";
import type { Source } from "../../../src/webhook/source.ts";
import { requirePayload } from "../../../src/webhook/stages/payload.ts";
import { createReverify } from "../../../src/webhook/stages/reverify.ts";
import {
  DELIVERY_ANSWERS,
  GET_ANSWERS,
  type HandshakeKind,
  HEAD_ANSWERS,
  OPTIONS_ANSWERS,
  VALIDATIONS,
} from "../../helpers/handshakes.ts";

const secretOf = (value: string): Secret => ({ name: "env:SECRET", value, mark: "" });

interface Asked {
  query?: string;
  headers?: Record<string, string>;
  endpoint?: string;
  secret?: string;
  token?: string;
}

const requestOf = ({ query = "", headers = {}, endpoint = "https://example.com/hook" }: Asked) => ({
  query: new URLSearchParams(query),
  headers,
  endpoint,
});

const sourceOf = (kind: HandshakeKind, { secret = "a secret of the tests", token }: Asked) => ({
  secrets: [secretOf(secret), secretOf("an older secret")],
  handshake: { kind, ...(token !== undefined && { token: secretOf(token) }) },
});

function get(kind: HandshakeKind, asked: Asked): Answer {
  const answer = GET_ANSWERS[kind];
  assert.ok(answer);
  return answer(requestOf(asked), sourceOf(kind, asked));
}

function options(kind: HandshakeKind, headers: Record<string, string>): Answer {
  const answer = OPTIONS_ANSWERS[kind];
  assert.ok(answer);
  return answer(requestOf({ headers }), sourceOf(kind, {}));
}

function delivered(
  kind: HandshakeKind,
  body: unknown,
  secret = "a secret of the tests",
  headers: Record<string, string> = {},
): Answer | null {
  const answer = DELIVERY_ANSWERS[kind];
  assert.ok(answer);
  return answer(openContent(Buffer.from(JSON.stringify(body)), "application/json"), secret, headers, { kind });
}

function validated(kind: HandshakeKind, asked: Asked): Answer {
  const validation = VALIDATIONS[kind];
  assert.ok(validation);
  return validation.answer(requestOf(asked), { kind });
}

/** Whether a body is that of the validation. */
const isRight = (kind: HandshakeKind, body: string) =>
  VALIDATIONS[kind]?.body?.isRight(openContent(Buffer.from(body), VALIDATIONS[kind].body.type));

const plain = (body: string) => ({ status: 200, body, headers: { "Content-Type": "text/plain" } });
const json = (body: object) => ({ status: 200, body });
const isError = (code: string) => (error: unknown) => error instanceof AppError && error.code === code;

suite("a GET is answered as the provider documents it, for", () => {
  test("Adobe", () => {
    // https://developer.adobe.com/events/docs/guides/
    const challenge = "8ec8d794-e0ab-42df-9017-e3dada8e84f7";
    assert.deepEqual(get("adobe", { query: `challenge=${challenge}` }), plain(challenge));
  });

  test("Braintree, with the newest secret", () => {
    // As the tests of Braintree's libraries, e.g. https://github.com/braintree/braintree_python
    const query = "bt_challenge=20f9f8ed05f77439fe955c977e4c8a53";
    const keys = { secret: "integration_private_key", token: "integration_public_key" };
    assert.deepEqual(
      get("braintree", { query, ...keys }),
      plain("integration_public_key|d9b899556c966b3f06945ec21311865d35df3ce4"),
    );
    for (const wrong of ["bad challenge", "20f9f8ed05f77439fe955c977e4c8a5G", "abc", ""])
      assert.throws(() => get("braintree", { query: `bt_challenge=${wrong}`, ...keys }), isError("validation_failed"));
  });

  test("Dropbox", () => {
    // https://www.dropbox.com/developers/reference/webhooks
    assert.deepEqual(get("dropbox", { query: "challenge=abc123" }), plain("abc123"));
  });

  test("eBay", () => {
    // The test of https://github.com/eBay/event-notification-nodejs-sdk, whose digest is from `sha256sum`.
    const code = "71745723-d031-455c-bfa5-f90d11b4f20a";
    const endpoint = "http://www.testendpoint.com/webhook";
    assert.deepEqual(
      get("ebay", { query: `challenge_code=${code}`, token: code, endpoint }),
      json({ challengeResponse: "048de9ffd0e35021fefc0388d5c52e0f475324f582f3778ca81a53354ccbbc97" }),
    );
  });

  test("Meta", () => {
    // https://developers.facebook.com/docs/graph-api/webhooks/getting-started
    const query = "hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=meatyhamhock";
    assert.deepEqual(get("meta", { query, token: "meatyhamhock" }), plain("1158201444"));
    for (const token of ["meatyhamhoc", "meatyhamhock2"])
      assert.throws(() => get("meta", { query, token }), isError("signature_mismatch"));
    const without = query.replace(/&hub.verify_token=.*/, "");
    assert.throws(() => get("meta", { query: without, token: "meatyhamhock" }), isError("signature_mismatch"));
    const other = query.replace("subscribe", "unsubscribe");
    assert.throws(() => get("meta", { query: other, token: "meatyhamhock" }), isError("validation_failed"));
  });

  test("LinkedIn, with the newest secret", () => {
    // https://learn.microsoft.com/en-us/linkedin/shared/api-guide/webhook-validation. The digest is from `openssl dgst`.
    const challengeCode = "890e4665-4dfe-4ab1-b689-ed553bceeed0";
    assert.deepEqual(
      get("linkedin", { query: `challengeCode=${challengeCode}`, secret: "client-secret-of-the-tests" }),
      json({ challengeCode, challengeResponse: "3a08d8f181ea69901b5bc0e1fdfa663347ba96664ea94d6d158c263998437fcf" }),
    );
  });

  test("Nylas", () => {
    // https://developer.nylas.com/docs/v3/notifications/
    assert.deepEqual(get("nylas", { query: "challenge=bc609b38-c81f-47fb" }), plain("bc609b38-c81f-47fb"));
  });

  test("Onfleet", () => {
    // https://docs.onfleet.com/reference-link/validation
    assert.deepEqual(get("onfleet", { query: "check=example" }), plain("example"));
  });

  test("Okta", () => {
    // https://developer.okta.com/docs/concepts/event-hooks/
    const headers = { "x-okta-verification-challenge": "C0vx-qX2Tf4mn9Xk5b9tMz0pB" };
    assert.deepEqual(get("okta", { headers }), json({ verification: "C0vx-qX2Tf4mn9Xk5b9tMz0pB" }));
  });

  test("X, with the newest secret", () => {
    // The token is one that X sent; https://docs.x.com/x-api/webhooks/quickstart. The digest is from `openssl dgst`.
    const query = "crc_token=M2RkODJkZmMtYjlkYi00NmQ4LTk0MGUtM2JjYzkwM2Q4MjQ0&nonce=MTc2OTUxODI5MjkxNA";
    assert.deepEqual(
      get("x", { query, secret: "consumer-secret-of-the-tests" }),
      json({ response_token: "sha256=Xh1H8MrMjktasKVLUs6bEdVsvVnlt2WToHsWlXmRvIE=" }),
    );
  });
});

test("HEAD of Intercom and Trello is answered without a body, and their GET is not", () => {
  // https://developer.atlassian.com/cloud/trello/guides/rest-api/webhooks/
  for (const kind of ["intercom", "trello"] as const) {
    assert.deepEqual(HEAD_ANSWERS[kind]?.(requestOf({}), sourceOf(kind, {})), plain(""));
    assert.equal(GET_ANSWERS[kind], undefined);
  }
});

suite("consent is given by OPTIONS as CloudEvents and Event Grid ask for it", () => {
  for (const kind of ["cloudevents", "event_grid"] as const) {
    test(kind, () => {
      // https://github.com/cloudevents/spec/blob/v1.0.2/cloudevents/http-webhook.md
      const headers = { "webhook-request-origin": "eventemitter.example.com", "webhook-request-rate": "120" };
      const answer = options(kind, headers);
      assert.equal(answer.status, 200);
      assert.deepEqual(answer.headers, {
        "Content-Type": "text/plain",
        Allow: "OPTIONS, POST",
        "WebHook-Allowed-Origin": "eventemitter.example.com",
        "WebHook-Allowed-Rate": "*",
      });
      for (const origin of ["", "two names", `${"a".repeat(256)}`])
        assert.throws(() => options(kind, { "webhook-request-origin": origin }), isError("validation_failed"));
      assert.throws(() => options(kind, {}), isError("validation_failed"));
    });
  }
});

test("a POST of Microsoft Graph is answered with its decoded token", () => {
  // As in the logs of receivers; https://learn.microsoft.com/en-us/graph/change-notifications-delivery-webhooks
  const id = "25460109-0e8b-4521-8090-dd691b407ed8";
  const query = `validationToken=Validation%3a+Testing+client+application+reachability+for+subscription+Request-Id%3a+${id}`;
  assert.deepEqual(
    validated("ms_graph", { query }),
    plain(`Validation: Testing client application reachability for subscription Request-Id: ${id}`),
  );
  for (const wrong of ["", "%0aSet-Cookie:a", "a".repeat(1025)])
    assert.throws(() => validated("ms_graph", { query: `validationToken=${wrong}` }), isError("validation_failed"));
});

test("Asana gets the header with its new secret back", () => {
  // https://developers.asana.com/reference/createwebhook
  const secret = "b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81";
  assert.deepEqual(validated("asana", { headers: { "x-hook-secret": secret } }), {
    status: 200,
    body: "",
    headers: { "Content-Type": "text/plain", "X-Hook-Secret": secret },
  });
  for (const wrong of ["", "<script>", "a b", "a".repeat(257)])
    assert.throws(() => validated("asana", { headers: { "x-hook-secret": wrong } }), isError("validation_failed"));
});

test("a ping of WooCommerce or Bitbucket has exactly the body that the provider sends", () => {
  // https://github.com/woocommerce/woocommerce, deliver_ping() of class-wc-webhook.php
  assert.equal(isRight("woocommerce", "webhook_id=12"), true);
  for (const other of ["webhook_id=", "webhook_id=1a", "webhook_id=1&a=b", "a=b", "webhook_id=1\n", ""])
    assert.equal(isRight("woocommerce", other), false, other);
  // https://github.com/go-playground/webhooks/tree/master/testdata/bitbucket-server
  assert.equal(isRight("bitbucket", '{ "test": true }'), true);
  for (const other of ["{}", '{"test":false}', '{"test":true,"a":1}', "[true]", "test", ""])
    assert.equal(isRight("bitbucket", other), false, other);
});

suite("a delivery is answered as the provider documents it, and another is none of the handshake, for", () => {
  test("Discord", () => {
    // https://docs.discord.com/developers/interactions/overview and /events/webhook-events
    assert.deepEqual(delivered("discord", { id: "1", application_id: "2", type: 1, version: 1 }), json({ type: 1 }));
    assert.deepEqual(delivered("discord", { version: 1, application_id: "2", type: 0 }), {
      status: 204,
      body: "",
      headers: { "Content-Type": "text/plain" },
    });
    const event = { version: 1, application_id: "2", type: 1, event: { type: "APPLICATION_AUTHORIZED" } };
    assert.equal(delivered("discord", event), null);
    assert.equal(delivered("discord", { id: "1", type: 2, data: {} }), null);
  });

  test("Event Grid", () => {
    // https://learn.microsoft.com/en-us/azure/event-grid/webhook-event-delivery
    const event = {
      id: "2d1781af-3a4c-4d7c-bd0c-e34b19da4e66",
      topic: "/subscriptions/xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx",
      subject: "",
      data: { validationCode: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" },
      eventType: "Microsoft.EventGrid.SubscriptionValidationEvent",
      eventTime: "2018-01-25T22:12:19.4556811Z",
      metadataVersion: "1",
      dataVersion: "1",
    };
    assert.deepEqual(
      delivered("event_grid", [event]),
      json({ validationResponse: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" }),
    );
    assert.equal(delivered("event_grid", [{ ...event, eventType: "Microsoft.Storage.BlobCreated" }]), null);
  });

  test("Front", () => {
    // https://dev.frontapp.com/docs/application-webhooks
    const sync = { type: "sync", authorization: { id: "cmp_abc" } };
    const headers = { "x-front-challenge": "u9Xk2-abc_1" };
    assert.deepEqual(delivered("front", sync, "", headers), plain("u9Xk2-abc_1"));
    assert.equal(delivered("front", { ...sync, type: "inbound_received" }, "", headers), null);
    assert.equal(delivered("front", sync), null);
    assert.throws(() => delivered("front", sync, "", { "x-front-challenge": "<script>" }), isError("invalid_payload"));
  });

  test("Mandrill", () => {
    // https://mandrill.zendesk.com/hc/en-us/articles/360038740014-Why-can-t-my-webhook-or-inbound-route-URL-be-verified
    const answer = (form: string) =>
      DELIVERY_ANSWERS.mandrill?.(
        openContent(Buffer.from(form), "application/x-www-form-urlencoded"),
        "",
        {},
        { kind: "mandrill" },
      );
    for (const form of ["mandrill_events=%5B%5D", "mandrill_events=[]"]) assert.deepEqual(answer(form), plain(""));
    for (const form of ["mandrill_events=%5B%7B%7D%5D", "mandrill_events=[]&a=b", "", "a=[]"])
      assert.equal(answer(form), null, form);
  });

  test("monday", () => {
    // https://developer.monday.com/api-reference/docs/webhooks; the challenge is one that monday sent.
    const challenge = "YQIn0dCoBu2zspb4TpQTXz8WKRpZOjXi9r7_7__BBA9HoPDHPrzKBKXUIquIoNL0BiTJzobUQ2uQD0wq0yDYHg";
    assert.deepEqual(delivered("monday", { challenge }), json({ challenge }));
    assert.equal(delivered("monday", { challenge, event: {} }), null);
    assert.equal(delivered("monday", [challenge]), null);
  });

  test("Slack", () => {
    // https://docs.slack.dev/reference/events/url_verification
    const challenge = "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P";
    const asked = { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge, type: "url_verification" };
    assert.deepEqual(delivered("slack", asked), plain(challenge));
    assert.equal(delivered("slack", { ...asked, type: "event_callback" }), null);
  });

  test("Twitch", () => {
    // https://dev.twitch.tv/docs/eventsub/handling-webhook-events/
    const challenge = "pogchamp-kappa-360noscope-vohiyo";
    const subscription = {
      id: "f1c2a387-161a-49f9-a165-0f21d7a4e1c4",
      status: "webhook_callback_verification_pending",
      type: "channel.follow",
    };
    assert.deepEqual(delivered("twitch", { challenge, subscription }), plain(challenge));
    assert.equal(delivered("twitch", { subscription: { ...subscription, status: "enabled" }, event: {} }), null);
    assert.equal(delivered("twitch", { subscription: { ...subscription, status: "authorization_revoked" } }), null);
  });

  test("Zoom", () => {
    // https://developers.zoom.us/docs/api/webhooks/. The digest is from a test of https://github.com/elastic/beats.
    const plainToken = "qgg8vlvZRS6UYooatFL8Aw";
    const asked = { payload: { plainToken }, event_ts: 1654503849680, event: "endpoint.url_validation" };
    const encryptedToken = "70c1f2e2e6ca2d39297490d1f9142c7d701415ea8e6151f6562a08fa657a40ff";
    assert.deepEqual(delivered("zoom", asked, "secretValueTest"), json({ plainToken, encryptedToken }));
    assert.equal(delivered("zoom", { ...asked, event: "meeting.started" }), null);
  });
});

test("a handshake that a wrong secret refused does not become an event when the secret is corrected", async () => {
  const source: Source = {
    name: "chat",
    path: "/chat",
    preset: null,
    secrets: [secretOf("a secret of the tests")],
    schemes: [{ type: "token", header: "authorization" }],
    id: [],
    type: [],
    dedupe: "bytes",
    contentTypes: ["application/json"],
    isEnvelope: false,
    addressMode: "enforce",
    bodyLimitBytes: 1000,
    handshake: { kind: "slack" },
  };
  const held = (type: string) => ({
    source: "chat",
    reason: "signature_mismatch",
    method: "POST",
    origin: "https://example.com",
    target: "/chat",
    mediaType: "application/json",
    address: "192.0.2.1",
    receivedAt: 0,
    headers: '{"authorization":"a secret of the tests"}',
    body: Buffer.from(JSON.stringify({ type, challenge: "abc" })),
  });
  const reverify = createReverify(source);
  assert.deepEqual(await reverify(held("url_verification")), { refused: "handshake" });
  assert.ok("event" in (await reverify(held("event_callback"))));
});

suite("a handshake cannot be used to sign", () => {
  const SIGNABLE = [
    '{"id":"evt_1","type":"order.paid"}',
    '[{"id":"evt_1"}]',
    'v0:1700000000:{"id":"evt_1"}',
    '"text"',
    "a".repeat(257),
    "",
    "a b",
    "a\n",
  ];

  test("what has the form of a signed body", () => {
    for (const text of SIGNABLE) {
      assert.throws(
        () => get("x", { query: `crc_token=${encodeURIComponent(text)}` }),
        isError("validation_failed"),
        text,
      );
      const asked = { event: "endpoint.url_validation", payload: { plainToken: text } };
      assert.throws(() => delivered("zoom", asked), isError("invalid_payload"), text);
    }
    for (const text of [...SIGNABLE, "hmacsha256=1234"])
      assert.throws(
        () => get("linkedin", { query: `challengeCode=${encodeURIComponent(text)}` }),
        isError("validation_failed"),
        text,
      );
    assert.throws(() => get("x", {}), isError("validation_failed"));
  });

  test("a body that is a number or a word of JSON, because those sources refuse it", () => {
    for (const kind of ["linkedin", "x", "zoom"] as const) {
      const source = {
        preset: kind,
        contentTypes: ["application/json"],
        schemes: [],
        isEnvelope: false,
        handshake: { kind },
      };
      const check = (body: string) => requirePayload(source, openContent(Buffer.from(body), "application/json"));
      for (const body of ["1234", "true", "null", '"text"', "text", ""])
        assert.throws(() => check(body), isError("invalid_payload"));
      for (const body of ["{}", "[]"]) check(body);
    }
  });
});

test("what is echoed has a narrow form", () => {
  for (const text of ["<script>", "a b", "a\r\nb", "ä", "a".repeat(257), ""]) {
    const query = `challenge=${encodeURIComponent(text)}`;
    for (const kind of ["adobe", "dropbox", "nylas"] as const)
      assert.throws(() => get(kind, { query }), isError("validation_failed"), text);
    const check = `check=${encodeURIComponent(text)}`;
    assert.throws(() => get("onfleet", { query: check }), isError("validation_failed"), text);
    assert.throws(() => delivered("slack", { type: "url_verification", challenge: text }), isError("invalid_payload"));
  }
  // Okta's may be a sentence.
  const ofOkta = (text: string) => get("okta", { headers: { "x-okta-verification-challenge": text } });
  assert.deepEqual(ofOkta("My verification challenge").body, { verification: "My verification challenge" });
  for (const text of ["a\r\nb", "ä", "a".repeat(1025), ""])
    assert.throws(() => ofOkta(text), isError("validation_failed"), text);
});
