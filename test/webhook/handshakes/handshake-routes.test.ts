import assert from "node:assert/strict";
import { createHash, createHmac } from "node:crypto";
import { BlockList } from "node:net";
import { suite, type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import airship from "../../../src/webhook/providers/airship.ts";
import braintree from "../../../src/webhook/providers/braintree.ts";
import type { Source } from "../../../src/webhook/source.ts";
import { secretOf } from "../../helpers/secret.ts";
import { SECRET, servedSource, serveSource } from "../../helpers/serve-source.ts";

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet("127.0.0.0", 8, "ipv4");

/** Serves a source with a handshake. */
function serving(
  t: TestContext,
  handshake: NonNullable<Source["handshake"]>,
  { trustedProxies, now, ...changes }: Partial<Source> & { trustedProxies?: BlockList; now?: () => number } = {},
) {
  return servedSource(t, { handshake, ...changes }, { trustedProxies, ...(now && { now }) });
}

const post = (body: unknown, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body: JSON.stringify(body),
  headers: { "Content-Type": "application/json", ...headers },
});
const signed = { Authorization: SECRET };

test("Microsoft Graph's validation is answered without signature and media type, and other deliveries are verified", async (t) => {
  const { send, stored, named } = await serving(t, { kind: "ms_graph" });
  const validated = await send(
    { method: "POST", headers: { "Content-Type": "text/plain" } },
    "?validationToken=a%3a+b",
  );
  assert.deepEqual([validated.status, validated.text], [200, "a: b"]);
  assert.equal(validated.headers.get("content-type"), "text/plain");
  assert.equal(validated.headers.get("x-content-type-options"), "nosniff");
  assert.equal((await send({ method: "POST" }, "?validationToken=")).status, 400);
  assert.equal(stored.length, 0);
  assert.equal((await send(post({ value: [] }))).status, 403);
  assert.equal((await send(post({ value: [] }, signed))).status, 200);
  assert.equal(stored.length, 1);
  assert.equal((await send({ method: "GET" }, "?validationToken=a")).status, 405);
  const [line, ...others] = named("handshake_answered");
  assert.deepEqual([line?.source, line?.kind, line?.address, others.length], ["sender", "ms_graph", "127.0.0.1", 0]);
});

test("Asana's handshake is answered at a source without a secret, and its secret is kept and never logged", async (t) => {
  const { send, stored, keptSecrets, named } = await serving(t, { kind: "asana" }, { secrets: [] });
  const handshake = { "X-Hook-Secret": "b537207f20cbfa02357cf448134da559" };
  const answer = await send({ method: "POST", headers: handshake });
  assert.deepEqual([answer.status, answer.headers.get("x-hook-secret")], [200, handshake["X-Hook-Secret"]]);
  assert.equal((await send(post({}, { ...handshake, ...signed }))).status, 403);
  assert.equal((await send(post({}, { "X-Hook-Secret": "a b" }))).status, 400);
  assert.equal((await send(post({ events: [] }))).status, 403);
  assert.equal(stored.length, 0);
  assert.deepEqual(keptSecrets, [handshake["X-Hook-Secret"]]);
  const [line, ...others] = named("handshake_secret_received");
  assert.deepEqual([line?.source, others.length], ["sender", 0]);
  assert.doesNotMatch(JSON.stringify(line), /b537207f20cbfa02357cf448134da559/);
});

test("Notion's token is kept if it comes alone and without a signature, and nothing else is accepted so", async (t) => {
  // https://developers.notion.com/reference/webhooks
  const token = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
  const { send, stored, keptSecrets } = await serving(t, { kind: "notion" }, { secrets: [] });
  const answer = await send(post({ verification_token: token }));
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  for (const body of [
    { verification_token: token, type: "page.created" },
    { verification_token: "" },
    { verification_token: "<script>alert(1)</script>" },
    { verification_token: [token] },
    { id: "1", type: "page.created" },
    [token],
  ])
    assert.equal((await send(post(body))).status, 403, JSON.stringify(body));
  assert.equal((await send(post({ verification_token: token }, { Authorization: "wrong" }))).status, 403);
  assert.equal(stored.length, 0);
  assert.deepEqual(keptSecrets, [token]);
});

test("a secret that is not kept is logged with the reason, and the handshake is answered", async (t) => {
  for (const [kept, reason] of [
    ["verified", "verified"],
    ["full", "full"],
    ["known", undefined],
  ] as const) {
    const { send, named } = await servedSource(t, { handshake: { kind: "asana" } }, { keepSecret: async () => kept });
    assert.equal((await send({ method: "POST", headers: { "X-Hook-Secret": "b537207f20cbfa02" } })).status, 200);
    assert.equal(named("handshake_secret_ignored")[0]?.reason, reason);
    assert.equal(named("handshake_secret_received").length, 0);
  }
});

test("a described GET is answered with its challenge", async (t) => {
  const { send } = await serving(t, { kind: "echo-query", name: "validation-code" });
  assert.equal((await send({}, "?validation-code=abc&other=1")).text, "abc");
  for (const query of ["", "?code=abc", "?validation-code=%3Cb%3E"]) assert.equal((await send({}, query)).status, 400);
});

test("a described header is echoed in a POST without a signature, which is never stored", async (t) => {
  const handshake = { kind: "echo-header", name: "smartsheet-hook-challenge", as: "Smartsheet-Hook-Response" } as const;
  const { send, stored } = await serving(t, handshake);
  const challenge = { "Smartsheet-Hook-Challenge": "80ce5d56-b3d5-4c54-8193" };
  const answer = await send(post({ challenge: "80ce5d56-b3d5-4c54-8193", webhookId: 1 }, challenge));
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  assert.equal(answer.headers.get("smartsheet-hook-response"), "80ce5d56-b3d5-4c54-8193");
  assert.equal((await send(post({}, { "Smartsheet-Hook-Challenge": "a b" }))).status, 400);
  assert.equal((await send(post({ events: [] }))).status, 403);
  assert.equal((await send(post({}, { ...challenge, Authorization: "wrong" }))).status, 403);
  assert.equal(stored.length, 0);
  assert.equal((await send(post({}, { ...challenge, ...signed }))).status, 200);
  assert.equal(stored.length, 1);
});

test("a hub's subscription is confirmed with the right token, if there is one, and never its end", async (t) => {
  const subscribe = "?hub.mode=subscribe&hub.topic=https%3A%2F%2Fexample.com&hub.challenge=abc";
  const open = await serving(t, { kind: "hub" });
  assert.equal((await open.send({}, subscribe)).text, "abc");
  assert.equal((await open.send({}, subscribe.replace("=subscribe", "=unsubscribe"))).status, 400);
  const guarded = await serving(t, { kind: "hub", token: secretOf("a token") });
  assert.equal((await guarded.send({}, subscribe)).status, 403);
  assert.equal((await guarded.send({}, `${subscribe}&hub.verify_token=other`)).status, 403);
  assert.equal((await guarded.send({}, `${subscribe}&hub.verify_token=a+token`)).text, "abc");
});

test("a hub that wants JSON gets its challenge in the member that it names", async (t) => {
  // Strava, https://developers.strava.com/docs/webhooks/
  const { send } = await serving(t, { kind: "hub", as: "hub.challenge", token: secretOf("STRAVA") });
  const query = "?hub.verify_token=STRAVA&hub.challenge=15f7d1a91c1f40&hub.mode=subscribe";
  const { status, headers, text } = await send({}, query);
  assert.deepEqual([status, headers.get("content-type")], [200, "application/json"]);
  assert.deepEqual(JSON.parse(text), { "hub.challenge": "15f7d1a91c1f40" });
  assert.equal((await send({}, query.replace("STRAVA", "other"))).status, 403);
});

test("a sender that signs nothing is checked and delivers at the path with the secret", async (t) => {
  const entry =
    "{ verify: { type: token, path: true }, secrets: [env:SECRET], handshake: { type: hub, token: env:OTHER, as: hub.challenge } }";
  const { send, stored } = await serveSource(t, entry);
  const query = "?hub.mode=subscribe&hub.challenge=15f7d1a91c1f40&hub.verify_token=another+secret+of+the+tests";
  const path = `/${encodeURIComponent("a secret of the tests")}`;
  assert.deepEqual(JSON.parse((await send({}, path + query)).text), { "hub.challenge": "15f7d1a91c1f40" });
  const event = { aspect_type: "create", event_time: 1549560669, object_id: 1234567890, object_type: "activity" };
  assert.equal((await send(post(event), path)).status, 200);
  assert.equal((await send(post(event), "/other")).status, 403);
  assert.equal(stored.length, 1);
});

test("a described GET is answered in JSON if the source names a member", async (t) => {
  const { send } = await serving(t, { kind: "echo-query", name: "code", as: "answer" });
  assert.deepEqual(JSON.parse((await send({}, "?code=abc")).text), { answer: "abc" });
});

test("a code in the query gets 204 if it is right, else 404", async (t) => {
  // Fitbit, https://dev.fitbit.com/build/reference/web-api/developer-guide/using-subscriptions/
  const { send, stored } = await serving(t, { kind: "match-query", name: "verify", token: secretOf("the right code") });
  const right = await send({}, "?verify=the+right+code");
  assert.deepEqual([right.status, right.text], [204, ""]);
  for (const query of ["?verify=the+wrong+code", "?verify=", "?other=the+right+code", ""])
    assert.equal((await send({}, query)).status, 404, query);
  assert.equal((await send(post({ events: [] }))).status, 403);
  assert.equal(stored.length, 0);
});

suite("a described member of JSON is echoed", () => {
  const SLACK_LIKE = { token: "Jhj5dZrVaK7ZwHHjRyZWjbDl", challenge: "3eZbrw1aBm2r / a b", type: "url_verification" };

  test("in a POST with and without a signature, which is never stored", async (t) => {
    const { send, stored } = await serving(t, { kind: "echo-json", name: "challenge" });
    for (const headers of [{}, signed]) {
      const { status, text } = await send(post(SLACK_LIKE, headers));
      assert.deepEqual([status, JSON.parse(text)], [200, { challenge: SLACK_LIKE.challenge }]);
    }
    assert.deepEqual(JSON.parse((await send(post({ challenge: 17 }))).text), { challenge: 17 });
    assert.equal(stored.length, 0);
  });

  test("under the name that the sender expects", async (t) => {
    // Smartsheet, https://developers.smartsheet.com/api/smartsheet/guides/webhooks/webhook-verification
    const { send } = await serving(t, { kind: "echo-json", name: "challenge", as: "smartsheetHookResponse" });
    const { text } = await send(post({ challenge: "80ce5d56-b3d5-4c54-8193", webhookId: 5749619161245572 }));
    assert.deepEqual(JSON.parse(text), { smartsheetHookResponse: "80ce5d56-b3d5-4c54-8193" });
  });

  test("and every other delivery needs a signature and is stored", async (t) => {
    const { send, stored } = await serving(t, { kind: "echo-json", name: "challenge" });
    const others = [{ events: [] }, { data: { challenge: "abc" } }, { challenge: {} }, { challenge: "a\nb" }, ["abc"]];
    for (const body of others) assert.equal((await send(post(body))).status, 403, JSON.stringify(body));
    assert.equal((await send(post({ challenge: "a".repeat(2000) }))).status, 403);
    for (const body of others) assert.equal((await send(post(body, signed))).status, 200, JSON.stringify(body));
    assert.equal(stored.length, others.length);
  });
});

test("Airship's signed check gets its code, and its deliveries come to a path below", async (t) => {
  // https://support.airship.com/hc/en-us/articles/360032501831 and https://docs.airship.com/platform/open/getting-started/
  const { schemes, subPaths, encoding, contentTypes } = airship;
  const code = secretOf("559384cd-6284-4e3e-9e4e-7c260019a251");
  const options = { schemes, subPaths, encoding, contentTypes } as Partial<Source>;
  const now = 1_800_000_000_000;
  const { send, stored } = await serving(t, { kind: "airship", token: code }, { ...options, now: () => now });
  const signed = (body: string, secret = SECRET, time = now / 1000) => ({
    "X-UA-Timestamp": String(time),
    "X-UA-Signature": createHmac("sha256", secret).update(`${time}:${body}`).digest("hex"),
  });
  const { status, headers, text } = await send({ headers: signed("") }, "/validate");
  assert.deepEqual([status, headers.get("content-type")], [200, "application/json"]);
  assert.deepEqual(JSON.parse(text), { confirmation_code: code.value });
  for (const wrong of [{}, signed("", "other"), signed("a"), signed("", SECRET, 1536947409)])
    assert.equal((await send({ headers: wrong }, "/validate")).status, 403);
  assert.equal((await send({ headers: signed("") })).status, 405);
  const body = '{"notification":{"alert":"hello"}}';
  const delivery = (sent: Record<string, string>): RequestInit => ({
    method: "POST",
    body: gzipSync(body),
    headers: {
      "Content-Type": "application/vnd.urbanairship+json; version=3;",
      "Content-Encoding": "gzip",
      ...sent,
    },
  });
  assert.equal((await send(delivery(signed(body)), "/push")).status, 200);
  assert.equal((await send(delivery(signed(body)))).status, 200);
  assert.equal((await send(delivery(signed("other")), "/push")).status, 403);
  assert.equal(String(stored[0]?.payload), body);
});

test("a challenge that Braintree's check signed is no delivery", async (t) => {
  const { schemes, contentTypes } = braintree;
  const handshake = { kind: "braintree", token: secretOf("public_key") } as const;
  const { send, stored } = await serving(t, handshake, { schemes, contentTypes } as Partial<Source>);
  const challenge = "20f9f8ed05f77439fe955c977e4c8a53";
  const { text: signature } = await send({}, `?bt_challenge=${challenge}`);
  const form = (payload: string, bt_signature: string): RequestInit => ({
    method: "POST",
    body: new URLSearchParams({ bt_signature, bt_payload: payload }),
  });
  assert.equal((await send(form(challenge, signature))).status, 400);
  assert.equal((await send(form(`${challenge}\n`, signature))).status, 403);
  assert.equal(stored.length, 0);
  const payload = `${Buffer.from("<notification><kind>check</kind></notification>").toString("base64")}\n`;
  const key = createHash("sha1").update(SECRET).digest();
  const genuine = `public_key|${createHmac("sha1", key).update(payload).digest("hex")}`;
  assert.equal((await send(form(payload, genuine))).status, 200);
  assert.equal(stored.length, 1);
});

test("Slack's check of the certificate is answered with and without a signature, and no other form without one", async (t) => {
  const contentTypes = ["application/json", "application/x-www-form-urlencoded"];
  const { send, stored } = await serving(t, { kind: "slack" }, { contentTypes });
  const form = (body: string, headers: Record<string, string> = {}): RequestInit => ({
    method: "POST",
    body,
    headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
  });
  for (const headers of [{}, signed]) {
    const { status, text } = await send(form("ssl_check=1&token=Jhj5dZrVaK7ZwHHjRyZWjbDl", headers));
    assert.deepEqual([status, text], [200, ""]);
  }
  for (const other of [
    "ssl_check=1&payload=%7B%7D",
    "ssl_check=1&command=%2Fdeploy",
    "ssl_check=0",
    "command=%2Fdeploy",
  ])
    assert.equal((await send(form(other))).status, 403, other);
  assert.equal((await send(post({ type: "url_verification", challenge: "abc" }))).status, 403);
  assert.equal(stored.length, 0);
  assert.equal((await send(form("command=%2Fdeploy&ssl_check=1", signed))).status, 200);
  assert.equal(stored.length, 1);
});

test("WooCommerce's ping is answered without a signature, and nothing else is", async (t) => {
  const { send, stored } = await serving(t, { kind: "woocommerce" });
  const form = (body: string, headers: Record<string, string> = {}): RequestInit => ({
    method: "POST",
    body,
    headers: { "Content-Type": "application/x-www-form-urlencoded; charset=UTF-8", ...headers },
  });
  const ping = await send(form("webhook_id=12"));
  assert.deepEqual([ping.status, ping.text, ping.headers.get("content-type")], [200, "", "text/plain"]);
  assert.equal((await send(form("webhook_id=12", { Authorization: "wrong" }))).status, 415);
  assert.equal((await send(form("webhook_id=12&a=b"))).status, 415);
  assert.equal((await send(form(`webhook_id=${"1".repeat(2000)}`))).status, 415);
  assert.equal((await send(post({ webhook_id: 12 }))).status, 403);
  assert.equal(stored.length, 0);
});

test("Bitbucket's ping is answered without a signature, and nothing else is", async (t) => {
  const { send, stored } = await serving(t, { kind: "bitbucket" });
  const ping = { "X-Event-Key": "diagnostics:ping" };
  const answer = await send(post({ test: true }, ping));
  assert.deepEqual([answer.status, answer.text], [200, ""]);
  assert.equal((await send(post({ test: true }, { ...ping, Authorization: "wrong" }))).status, 403);
  assert.equal((await send(post({ test: true, push: {} }, ping))).status, 403);
  assert.equal((await send(post({ test: true }, { "X-Event-Key": "repo:push" }))).status, 403);
  assert.equal((await send(post({ test: true }, { ...ping, "Content-Type": "text/plain" }))).status, 415);
  assert.equal(stored.length, 0);
});

test("monday's challenge is answered with and without a signature, and nothing else without one", async (t) => {
  const { send, stored } = await serving(t, { kind: "monday" });
  for (const headers of [{}, signed]) {
    const { status, text } = await send(post({ challenge: "abc_-1" }, headers));
    assert.deepEqual([status, JSON.parse(text)], [200, { challenge: "abc_-1" }]);
  }
  assert.equal((await send(post({ challenge: "{}" }))).status, 400);
  assert.equal((await send(post({ challenge: "abc", event: {} }))).status, 403);
  assert.equal((await send(post({ event: {} }))).status, 403);
  assert.equal((await send(post({ challenge: "a".repeat(2000) }))).status, 403);
  assert.equal(
    (await send({ method: "POST", body: "not JSON", headers: { "Content-Type": "application/json" } })).status,
    403,
  );
  assert.equal(stored.length, 0);
  assert.equal((await send(post({ event: { type: "create_pulse" } }, signed))).status, 200);
  assert.equal(stored.length, 1);
});

test("Discord's pings are answered only with a right signature, else with 401", async (t) => {
  const { send, stored } = await serving(t, { kind: "discord" }, { refusedStatus: 401 });
  const refused = await send(post({ type: 1 }, { Authorization: "wrong" }));
  assert.equal(refused.status, 401);
  const { status, title, code } = JSON.parse(refused.text) as Record<string, unknown>;
  assert.deepEqual([status, title, code], [401, "Unauthorized", "signature_mismatch"]);
  assert.equal((await send(post({ type: 1 }))).status, 401);
  assert.deepEqual(JSON.parse((await send(post({ type: 1 }, signed))).text), { type: 1 });
  const ping = await send(post({ type: 0 }, signed));
  assert.deepEqual([ping.status, ping.text, ping.headers.get("content-length")], [204, "", null]);
  assert.ok(ping.headers.has("content-type"));
  assert.equal(stored.length, 0);
  assert.equal((await send(post({ type: 1, event: { type: "ENTITLEMENT_CREATE" } }, signed))).status, 200);
  assert.equal(stored.length, 1);
});

test("Event Grid's validation is answered only with the right secret, and its OPTIONS without one", async (t) => {
  const { send, stored } = await serving(t, { kind: "event_grid" });
  const data = { validationCode: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" };
  const body = [{ eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data }];
  assert.equal((await send(post(body))).status, 403);
  const { text } = await send(post(body, signed));
  assert.deepEqual(JSON.parse(text), { validationResponse: data.validationCode });
  const { headers } = await send({ method: "OPTIONS", headers: { "WebHook-Request-Origin": "eventgrid.azure.net" } });
  assert.equal(headers.get("webhook-allowed-origin"), "eventgrid.azure.net");
  assert.equal(stored.length, 0);
});

const EBAY = { kind: "ebay", token: secretOf("71745723-d031-455c-bfa5-f90d11b4f20a") } as const;
const EBAY_QUERY = "?challenge_code=71745723-d031-455c-bfa5-f90d11b4f20a";
/** The digest of the challenge code, the token and an address, from `sha256sum`. */
const EBAY_DIGESTS = {
  "https://public.example.com/hook": "f1dc7f43e4fdad0ca1982f80cddb081ad1411498eca629305e15a39d6057abe9",
  "https://proxy.example.com/sub/hook": "bfd89a5168d16035463f13f0c75059e0c42189fd0e666357154818fd99a3bb0b",
};

test("eBay's hash has the address that the sender uses: that of a trusted proxy, else PUBLIC_URL", async (t) => {
  const publicOrigin = "https://public.example.com";
  const { send } = await serving(t, EBAY, { publicOrigin, trustedProxies: LOOPBACK });
  const direct = await send({}, EBAY_QUERY);
  assert.deepEqual(JSON.parse(direct.text), { challengeResponse: EBAY_DIGESTS["https://public.example.com/hook"] });
  const headers = {
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "proxy.example.com",
    "X-Forwarded-Prefix": "/sub",
    "X-Forwarded-For": "192.0.2.1",
  };
  const proxied = await send({ headers }, EBAY_QUERY);
  assert.deepEqual(JSON.parse(proxied.text), { challengeResponse: EBAY_DIGESTS["https://proxy.example.com/sub/hook"] });
  assert.equal((await send({}, "?challenge_code=a%20b")).status, 400);
});

test("Adobe's challenge is echoed, and HEAD has no body", async (t) => {
  const { send } = await serving(t, { kind: "adobe" });
  assert.equal(
    (await send({}, "?challenge=8ec8d794-e0ab-42df-9017-e3dada8e84f7")).text,
    "8ec8d794-e0ab-42df-9017-e3dada8e84f7",
  );
  const head = await send({ method: "HEAD" }, "?challenge=abc");
  assert.deepEqual([head.status, head.text], [200, ""]);
});

test("HEAD alone is answered where the provider sends only that, and it takes no delivery", async (t) => {
  const { send, stored, named } = await serving(t, { kind: "intercom" });
  const head = await send({ method: "HEAD" });
  assert.deepEqual([head.status, head.text, head.headers.get("content-length")], [200, "", "0"]);
  const refused = await send({ method: "GET" });
  assert.deepEqual([refused.status, refused.headers.get("allow")], [405, "POST, HEAD"]);
  assert.equal((await send(post({ id: "notif_1" }))).status, 403);
  assert.equal(stored.length, 0);
  assert.deepEqual(
    named("handshake_answered").map(({ kind }) => kind),
    ["intercom"],
  );
});

test("a handshake from another address is refused, or logged if addressMode is watch", async (t) => {
  const allowedAddresses = new BlockList();
  allowedAddresses.addSubnet("192.0.2.0", 24, "ipv4");
  const refusing = await serving(t, { kind: "adobe" }, { allowedAddresses });
  assert.equal((await refusing.send({}, "?challenge=abc")).status, 403);
  const validating = await serving(t, { kind: "ms_graph" }, { allowedAddresses });
  assert.equal((await validating.send({ method: "POST" }, "?validationToken=abc")).status, 403);
  const watching = await serving(t, { kind: "adobe" }, { allowedAddresses, addressMode: "watch" });
  assert.equal((await watching.send({}, "?challenge=abc")).text, "abc");
  assert.equal(watching.named("delivery_from_other_address").length, 1);
});
