import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, hash, sign } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, suite, test } from "node:test";
import { type Answer, ask, assertProblem } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { workingDir } from "../helpers/working-dir.ts";

const SECRET = "a secret of the tests";
// These sign what anybody sends, so no other source has their secrets.
const X_SECRET = "a secret of X in the tests";
const LINKEDIN_SECRET = "a secret of LinkedIn in the tests";
const LINKEDIN_OLD = "an older secret of LinkedIn";
const OLD_SECRET = "an older secret of the tests";
const HEX_SECRET = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
const TOKEN = "a token of the tests";

const discord = generateKeyPairSync("ed25519");
const ebay = generateKeyPairSync("ec", { namedCurve: "P-256" });
const DISCORD_KEY = discord.publicKey.export({ format: "der", type: "spki" }).subarray(-32).toString("hex");

const dir = workingDir();
writeFileSync(join(dir, "ebay.pem"), ebay.publicKey.export({ format: "pem", type: "spki" }));
writeFileSync(
  join(dir, "authserve.yaml"),
  `sources:
  silent: { preset: slack, secrets: [env:SECRET] }
  slack: { preset: slack, secrets: [env:SECRET], handshake: true }
  zoom: { preset: zoom, secrets: [env:SECRET, env:OLD_SECRET], handshake: true }
  twitch: { preset: twitch, secrets: [env:SECRET], handshake: true }
  meta: { preset: meta, secrets: [env:SECRET], handshake: { token: env:TOKEN } }
  x: { preset: x, secrets: [env:X_SECRET], handshake: true }
  dropbox: { preset: dropbox, secrets: [env:SECRET], handshake: true }
  trello: { preset: trello, secrets: [env:SECRET], handshake: true }
  intercom: { preset: intercom, secrets: [env:SECRET], handshake: true }
  nylas: { preset: nylas, secrets: [env:SECRET], handshake: true }
  onfleet: { preset: onfleet, secrets: [env:HEX_SECRET], handshake: true }
  linkedin: { preset: linkedin, secrets: [env:LINKEDIN_SECRET, env:LINKEDIN_OLD], handshake: true }
  asana: { preset: asana, handshake: true }
  notion: { preset: notion, handshake: true }
  asana-ready: { preset: asana, secrets: [env:SECRET], handshake: true }
  head: { verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: head } }
  query: { verify: { header: x-sig }, secrets: [env:SECRET], handshake: { type: echo-query, name: code } }
  smartsheet:
    verify: { header: smartsheet-hmac-sha256 }
    secrets: [env:SECRET]
    handshake: { type: echo-header, name: Smartsheet-Hook-Challenge, as: Smartsheet-Hook-Response }
  hub: { verify: { header: x-hub-signature, prefix: "sha256=" }, secrets: [env:SECRET], handshake: { type: hub } }
  front: { preset: front, secrets: [env:SECRET], handshake: true }
  mandrill: { preset: mandrill, secrets: [env:SECRET], handshake: true, keepRejected: { count: 10 } }
  woo: { preset: woocommerce, secrets: [env:SECRET], handshake: true }
  bitbucket: { preset: bitbucket, secrets: [env:SECRET], handshake: true }
  okta: { preset: okta, secrets: [env:SECRET], handshake: true }
  cloudevents: { preset: cloudevents, secrets: [env:SECRET], handshake: true }
  far: { preset: dropbox, secrets: [env:SECRET], handshake: true, allowedAddresses: [192.0.2.0/24] }
  xero: { preset: xero, secrets: [env:SECRET] }
  discord: { preset: discord, keys: [env:DISCORD_KEY], handshake: true }
  ebay: { preset: ebay, keys: [file:ebay.pem], handshake: { token: env:TOKEN } }
  graph: { preset: ms_graph, secrets: [env:SECRET], handshake: true }
  monday: { preset: monday, secrets: [env:SECRET], handshake: true }
  grid: { preset: azure_eventgrid, secrets: [env:SECRET], handshake: true }
`,
);
const server = await startServer({
  dir,
  env: { SECRET, OLD_SECRET, X_SECRET, LINKEDIN_SECRET, LINKEDIN_OLD, HEX_SECRET, TOKEN, DISCORD_KEY },
});
after(() => server[Symbol.asyncDispose]());

const hmac = (text: string, encoding: "hex" | "base64", secret = SECRET) =>
  createHmac("sha256", secret).update(text).digest(encoding);

const get = (target: string, headers: Record<string, string> = {}) => ask(server, `/webhook/${target}`, { headers });

function post(source: string, body: unknown, headers: Record<string, string>): Promise<Answer> {
  const sent = { "Content-Type": "application/json", ...headers };
  return ask(server, `/webhook/${source}`, { method: "POST", body: JSON.stringify(body), headers: sent });
}

/** The number of stored events. */
async function countIds(): Promise<number> {
  return Number(/^authserve_event_ids (\d+)$/m.exec((await ask(server, "/metrics")).text)?.[1]);
}

/** Signs as Slack and Zoom do. */
function timed(prefix: "x-slack" | "x-zm", body: unknown, secret = SECRET): Record<string, string> {
  const time = String(Math.floor(Date.now() / 1000));
  const signature = `v0=${hmac(`v0:${time}:${JSON.stringify(body)}`, "hex", secret)}`;
  return { [`${prefix}-signature`]: signature, [`${prefix}-request-timestamp`]: time };
}

test("GET is answered only where a handshake uses it", async () => {
  for (const source of ["silent", "slack", "zoom", "twitch", "cloudevents"]) {
    const answer = await get(`${source}?challenge=abc&crc_token=abc`);
    assertProblem(answer, 405, "method_not_allowed");
    assert.equal(answer.headers.get("allow"), source === "cloudevents" ? "POST, OPTIONS" : "POST");
  }
  const refused = await ask(server, "/webhook/silent", { method: "OPTIONS" });
  assertProblem(refused, 405, "method_not_allowed");
  const echoed = await get("dropbox?challenge=abc123");
  assert.deepEqual([echoed.status, echoed.text], [200, "abc123"]);
  assert.equal(echoed.headers.get("content-type"), "text/plain");
  assert.equal(echoed.headers.get("x-content-type-options"), "nosniff");
  for (const [target, expected] of [
    ["nylas?challenge=bc609b38-c81f-47fb", "bc609b38-c81f-47fb"],
    ["onfleet?check=example", "example"],
  ] as const) {
    const { status, text, headers } = await get(target);
    assert.deepEqual([status, text, headers.get("content-type")], [200, expected, "text/plain"]);
  }
  assertProblem(await get("onfleet?check=%3Cscript%3E"), 400, "validation_failed");
  const verified = await get("okta", { "X-Okta-Verification-Challenge": "abc" });
  assert.deepEqual(verified.json, { verification: "abc" });
});

test("HEAD is answered to Intercom and Trello, which get nothing by GET", async () => {
  for (const source of ["intercom", "trello"]) {
    const head = await ask(server, `/webhook/${source}`, { method: "HEAD" });
    assert.deepEqual([head.status, head.text], [200, ""]);
    const refused = await get(source);
    assertProblem(refused, 405, "method_not_allowed");
    assert.equal(refused.headers.get("allow"), "POST, HEAD");
  }
  assert.equal((await ask(server, "/webhook/silent", { method: "HEAD" })).status, 405);
});

test("LinkedIn gets an HMAC of its challenge by the newest secret", async () => {
  const challengeCode = "890e4665-4dfe-4ab1-b689-ed553bceeed0";
  const { json } = await get(`linkedin?challengeCode=${challengeCode}`);
  assert.deepEqual(json, { challengeCode, challengeResponse: hmac(challengeCode, "hex", LINKEDIN_SECRET) });
  assertProblem(await get("linkedin?challengeCode=hmacsha256%3D1234"), 400, "validation_failed");
});

test("Asana's handshake is answered before its secret is set, and its deliveries are refused until then", async () => {
  const ids = await countIds();
  const secret = "b537207f20cbfa02357cf448134da559e8bd39d61597dcd5631b8012eae53e81";
  for (const source of ["asana", "asana-ready"]) {
    const answer = await post(source, {}, { "X-Hook-Secret": secret });
    assert.deepEqual([answer.status, answer.text, answer.headers.get("x-hook-secret")], [200, "", secret]);
    assertProblem(await post(source, {}, { "X-Hook-Secret": "<script>" }), 400, "validation_failed");
  }
  assert.equal(await countIds(), ids);
  const body = { events: [{ action: "changed" }] };
  const signed = (key: string) => ({ "X-Hook-Signature": hmac(JSON.stringify(body), "hex", key) });
  for (const source of ["asana", "asana-ready"])
    assertProblem(await post(source, body, signed(secret)), 403, "signature_mismatch");
  assert.equal((await post("asana-ready", body, signed(SECRET))).json.received, true);
  assert.equal(await countIds(), ids + 1);
  const named = server.log("handshake_secret_received").map(({ source }) => source);
  assert.deepEqual(named, ["asana", "asana-ready"]);
  assert.ok(!server.stdout().includes(secret));
  const shown = await server.run(["sources", "list"]);
  assert.match(shown.stdout, new RegExp(`^asana received, store it: ${secret} \\(.*, from 127\\.0\\.0\\.1\\)$`, "m"));
  assert.match(shown.stderr, /^Received secrets are shown once/m);
  assert.ok(!(await server.run(["sources", "list"])).stdout.includes(secret));
});

test("Notion's token is shown once, with a warning if a stranger has sent another", async () => {
  const token = "secret_tMrlL1qK5vuQAh1b6cZGhFChZTSYJlce98V0pYn7yBl";
  for (const value of [token, "secret_of_a_stranger_0123456789"]) {
    const { status, text } = await post("notion", { verification_token: value }, {});
    assert.deepEqual([status, text], [200, ""]);
  }
  assertProblem(await post("notion", { verification_token: token, type: "a" }, {}), 403, "signature_mismatch");
  const list = async () => {
    const { stdout } = await server.run(["sources", "list", "--json"]);
    return (JSON.parse(stdout) as { name: string; receivedSecrets?: { value: string }[] }[]).find(
      ({ name }) => name === "notion",
    );
  };
  assert.deepEqual(
    (await list())?.receivedSecrets?.map(({ value }) => value),
    [token, "secret_of_a_stranger_0123456789"],
  );
  assert.equal((await list())?.receivedSecrets, undefined);
  assert.ok(!server.stdout().includes(token));
  for (const value of [token, "secret_of_a_stranger_0123456789"])
    await post("notion", { verification_token: value }, {});
  const { stderr } = await server.run(["sources", "list"]);
  assert.match(stderr, /^warning: notion received 2 secrets, and anybody can send one/m);
});

test("handshakes that the file describes are answered", async () => {
  const ids = await countIds();
  assert.equal((await ask(server, "/webhook/head", { method: "HEAD" })).status, 200);
  assert.equal((await get("query?code=abc")).text, "abc");
  assertProblem(await get("query?code=%3Cb%3E"), 400, "validation_failed");
  const challenge = { "Smartsheet-Hook-Challenge": "80ce5d56-b3d5" };
  const echoed = await post("smartsheet", { challenge: "80ce5d56-b3d5", webhookId: 1 }, challenge);
  assert.deepEqual([echoed.status, echoed.headers.get("smartsheet-hook-response")], [200, "80ce5d56-b3d5"]);
  assertProblem(await post("smartsheet", { events: [] }, {}), 403, "signature_mismatch");
  assert.equal((await get("hub?hub.mode=subscribe&hub.challenge=abc&hub.topic=a")).text, "abc");
  assertProblem(await get("hub?hub.mode=unsubscribe&hub.challenge=abc"), 400, "validation_failed");
  assert.equal(await countIds(), ids);
});

test("Front gets its challenge back when its signature is right", async () => {
  const time = String(Date.now());
  const body = { type: "sync", authorization: { id: "cmp_abc" } };
  const headers = (secret: string) => ({
    "X-Front-Signature": hmac(`${time}:${JSON.stringify(body)}`, "base64", secret),
    "X-Front-Request-Timestamp": time,
    "X-Front-Challenge": "u9Xk2-abc_1",
  });
  const ids = await countIds();
  const { status, text, headers: answered } = await post("front", body, headers(SECRET));
  assert.deepEqual([status, text, answered.get("content-type")], [200, "u9Xk2-abc_1", "text/plain"]);
  assertProblem(await post("front", body, headers("other")), 403, "signature_mismatch");
  assert.equal(await countIds(), ids);
});

suite("Mandrill's check", () => {
  const deliver = (events: string, secret: string) => {
    const signed = `${server.url}/webhook/mandrillmandrill_events${events}`;
    return ask(server, "/webhook/mandrill", {
      method: "POST",
      body: new URLSearchParams({ mandrill_events: events }),
      headers: { "X-Mandrill-Signature": createHmac("sha1", secret).update(signed).digest("base64") },
    });
  };

  test("is answered by HEAD, and with the key that everybody knows for a delivery without events", async () => {
    const ids = await countIds();
    assert.equal((await ask(server, "/webhook/mandrill", { method: "HEAD" })).status, 200);
    for (const secret of ["test-webhook", SECRET]) {
      const { status, text } = await deliver("[]", secret);
      assert.deepEqual([status, text], [200, ""]);
    }
    assert.equal(await countIds(), ids);
  });

  test("lets nobody deliver events with that key", async () => {
    const ids = await countIds();
    const events = '[{"event":"send","_id":"1"}]';
    assertProblem(await deliver(events, "test-webhook"), 403, "signature_mismatch");
    assertProblem(await deliver("[]", "other"), 403, "signature_mismatch");
    assert.equal((await deliver(events, SECRET)).json.received, true);
    assert.equal(await countIds(), ids + 1);
  });
});

test("the pings of WooCommerce and Bitbucket Server need no signature, and deliveries do", async () => {
  const ids = await countIds();
  const form = (body: string) => ask(server, "/webhook/woo", { method: "POST", body: new URLSearchParams(body) });
  const saved = await form("webhook_id=3");
  assert.deepEqual([saved.status, saved.text], [200, ""]);
  assertProblem(await form("webhook_id=3&order=1"), 415, "unsupported_media_type");
  assertProblem(await post("woo", { id: 1 }, {}), 403, "signature_mismatch");
  const ping = { "X-Event-Key": "diagnostics:ping" };
  assert.equal((await post("bitbucket", { test: true }, ping)).status, 200);
  assertProblem(await post("bitbucket", { test: true, a: 1 }, ping), 403, "signature_mismatch");
  assertProblem(await post("bitbucket", { test: true }, { "X-Event-Key": "repo:push" }), 403, "signature_mismatch");
  assert.equal(await countIds(), ids);
});

test("consent is given to CloudEvents, whose deliveries still need the token", async () => {
  const headers = { "WebHook-Request-Origin": "eventemitter.example.com" };
  const answer = await ask(server, "/webhook/cloudevents", { method: "OPTIONS", headers });
  assert.equal(answer.headers.get("webhook-allowed-origin"), "eventemitter.example.com");
  const event = { specversion: "1.0", id: "ce-1", source: "/a", type: "com.example.made" };
  const contentType = { "Content-Type": "application/cloudevents+json" };
  assertProblem(await post("cloudevents", event, contentType), 403, "signature_mismatch");
  const stored = await post("cloudevents", event, { ...contentType, Authorization: `Bearer ${SECRET}` });
  assert.equal(stored.json.eventId, "/a:ce-1");
});

test("a wrong token of Meta is refused", async () => {
  const query = (token: string) =>
    `meta?hub.mode=subscribe&hub.challenge=1158201444&hub.verify_token=${encodeURIComponent(token)}`;
  assert.equal((await get(query(TOKEN))).text, "1158201444");
  assertProblem(await get(query(SECRET)), 403, "signature_mismatch");
  assertProblem(await get("meta"), 400, "validation_failed");
});

suite("a challenge of X", () => {
  const deliver = (body: string) =>
    ask(server, "/webhook/x", {
      method: "POST",
      body,
      headers: {
        "Content-Type": "application/json",
        "X-Twitter-Webhooks-Signature": `sha256=${hmac(body, "base64", X_SECRET)}`,
      },
    });

  test("is answered with an HMAC", async () => {
    const token = "M2RkODJkZmMtYjlkYi00NmQ4LTk0MGUtM2JjYzkwM2Q4MjQ0";
    const { json } = await get(`x?crc_token=${token}&nonce=MTc2OTUxODI5MjkxNA`);
    assert.deepEqual(json, { response_token: `sha256=${hmac(token, "base64", X_SECRET)}` });
  });

  test("cannot get the signature of a body", async () => {
    const body = '{"id":"evt_1"}';
    assertProblem(await get(`x?crc_token=${encodeURIComponent(body)}`), 400, "validation_failed");
    assert.equal((await get("x?crc_token=1234")).status, 200);
    assertProblem(await deliver("1234"), 400, "invalid_payload");
    assert.equal((await deliver(body)).status, 200);
  });
});

suite("a handshake in a delivery", () => {
  const SLACK = {
    token: "Jhj5dZrVaK7ZwHHjRyZWjbDl",
    challenge: "3eZbrw1aBm2rZgRNFdxV2595E9",
    type: "url_verification",
  };
  const ZOOM = { payload: { plainToken: "qgg8vlvZRS6UYooatFL8Aw" }, event: "endpoint.url_validation" };

  test("is answered when its signature is right, and is not stored", async () => {
    const ids = await countIds();
    const slack = await post("slack", SLACK, timed("x-slack", SLACK));
    assert.deepEqual(
      [slack.status, slack.text, slack.headers.get("content-type")],
      [200, SLACK.challenge, "text/plain"],
    );
    const { plainToken } = ZOOM.payload;
    for (const secret of [SECRET, OLD_SECRET]) {
      const zoom = await post("zoom", ZOOM, timed("x-zm", ZOOM, secret));
      assert.deepEqual(zoom.json, { plainToken, encryptedToken: hmac(plainToken, "hex", secret) });
    }
    const twitch = { challenge: "pogchamp", subscription: { status: "webhook_callback_verification_pending" } };
    const time = new Date().toISOString();
    const verified = await post("twitch", twitch, {
      "Twitch-Eventsub-Message-Id": "message-1",
      "Twitch-Eventsub-Message-Timestamp": time,
      "Twitch-Eventsub-Message-Type": "webhook_callback_verification",
      "Twitch-Eventsub-Message-Signature": `sha256=${hmac(`message-1${time}${JSON.stringify(twitch)}`, "hex")}`,
    });
    assert.deepEqual([verified.status, verified.text], [200, "pogchamp"]);
    assert.equal(await countIds(), ids);
    const kinds = new Set(server.log("handshake_answered").map(({ kind }) => kind));
    for (const kind of ["slack", "zoom", "twitch"]) assert.ok(kinds.has(kind));
    assert.doesNotMatch(server.stdout(), /pogchamp|qgg8vlvZRS6UYooatFL8Aw/);
  });

  test("is refused when its signature is wrong", async () => {
    assertProblem(await post("slack", SLACK, timed("x-slack", SLACK, "other")), 403, "signature_mismatch");
    assertProblem(await post("zoom", ZOOM, timed("x-zm", ZOOM, "other")), 403, "signature_mismatch");
    assertProblem(await post("slack", SLACK, {}), 403, "signature_mismatch");
  });

  test("is an event of a source without handshake", async () => {
    const ids = await countIds();
    const answer = await post("silent", SLACK, timed("x-slack", SLACK));
    assert.deepEqual([answer.status, answer.text], [200, ""]);
    assert.equal(await countIds(), ids + 1);
  });
});

test("a ping of Discord is answered, an event gets 204, and a wrong signature 401", async () => {
  const time = String(Math.floor(Date.now() / 1000));
  const signed = (body: unknown) => ({
    "X-Signature-Ed25519": sign(null, Buffer.from(time + JSON.stringify(body)), discord.privateKey).toString("hex"),
    "X-Signature-Timestamp": time,
  });
  const ping = { id: "1", application_id: "2", type: 1, version: 1 };
  assert.deepEqual((await post("discord", ping, signed(ping))).json, { type: 1 });
  assertProblem(await post("discord", ping, signed({ ...ping, id: "2" })), 401, "signature_mismatch");
  const ofEvents = { version: 1, application_id: "2", type: 0 };
  const empty = await post("discord", ofEvents, signed(ofEvents));
  assert.deepEqual([empty.status, empty.text], [204, ""]);
  const event = { version: 1, application_id: "2", type: 1, event: { type: "ENTITLEMENT_CREATE" } };
  const ids = await countIds();
  const stored = await post("discord", event, signed(event));
  assert.deepEqual([stored.status, stored.text, await countIds()], [204, "", ids + 1]);
});

test("eBay gets a hash of its challenge, the token and the URL", async () => {
  const { json } = await get("ebay?challenge_code=71745723-d031-455c-bfa5-f90d11b4f20a");
  const text = `71745723-d031-455c-bfa5-f90d11b4f20a${TOKEN}${server.url}/webhook/ebay`;
  assert.deepEqual(json, { challengeResponse: hash("sha256", text) });
});

test("Microsoft Graph and monday are answered before they can sign", async () => {
  const validated = await ask(server, "/webhook/graph?validationToken=Validation%3a+Testing", { method: "POST" });
  assert.deepEqual([validated.status, validated.text], [200, "Validation: Testing"]);
  assertProblem(await ask(server, "/webhook/graph?validationToken=", { method: "POST" }), 400, "validation_failed");
  assert.deepEqual((await post("monday", { challenge: "abc_-1" }, {})).json, { challenge: "abc_-1" });
  assertProblem(await post("monday", { event: {} }, {}), 403, "signature_mismatch");
});

test("Event Grid is answered only with the code of its URL", async () => {
  const data = { validationCode: "512d38b6-c7b8-40c8-89fe-f46f9e9622b6" };
  const body = [{ eventType: "Microsoft.EventGrid.SubscriptionValidationEvent", data }];
  const answered = await post(`grid?code=${encodeURIComponent(SECRET)}`, body, {});
  assert.deepEqual(answered.json, { validationResponse: data.validationCode });
  assertProblem(await post("grid?code=other", body, {}), 403, "signature_mismatch");
});

test("a handshake from an address that is not allowed is refused", async () => {
  assertProblem(await get("far?challenge=abc"), 403, "address_not_allowed");
});

test("Xero gets 401 for a wrong signature, and no body, which its intent to receive asks for", async () => {
  const body = { events: [], entropy: "S0m3r4N0m3t3xt" };
  const sign = (secret: string) => ({ "X-Xero-Signature": hmac(JSON.stringify(body), "base64", secret) });
  for (const [headers, expected] of [
    [sign(SECRET), 200],
    [sign("other"), 401],
    [{}, 401],
  ] as const) {
    const { status, text } = await post("xero", body, headers);
    assert.deepEqual([status, text], [expected, ""]);
  }
});
