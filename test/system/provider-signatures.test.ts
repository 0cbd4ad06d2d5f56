import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sign as signGithub } from "@octokit/webhooks-methods";
import { Webhook } from "standardwebhooks";
import Stripe from "stripe";
import { assertProblem, post } from "../helpers/client.ts";
import { WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { paymentEvent, pullRequest } from "../helpers/payloads.ts";
import { startServer } from "../helpers/server.ts";
import { list, show } from "../helpers/stored-events.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const OTHER_SECRET = `whsec_${Buffer.from("a secret of somebody else entirely").toString("base64")}`;
const stripe = new Stripe("sk_test_unused");
const seconds = () => Math.floor(Date.now() / 1000);

function stripeHeader(payload: string, more: { secret?: string; timestamp?: number } = {}): Record<string, string> {
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret: WEBHOOK_SECRET, ...more });
  return { "Stripe-Signature": header };
}

function standardHeaders(
  id: string,
  payload: string,
  at = new Date(),
  secret = WEBHOOK_SECRET,
): Record<string, string> {
  return {
    "webhook-id": id,
    "webhook-timestamp": String(Math.floor(at.getTime() / 1000)),
    "webhook-signature": new Webhook(secret).sign(id, at, payload),
  };
}

test("a delivery signed by the stripe package is accepted and stored byte for byte", async () => {
  const payload = paymentEvent("evt_stripe_1");
  const answer = await post(server, "/webhook", payload, stripeHeader(payload));
  assert.deepEqual([answer.status, answer.json], [200, { received: true, duplicate: false, eventId: "evt_stripe_1" }]);
  const stored = await show(server, "evt_stripe_1");
  assert.equal(stored.payload, payload);
  assert.equal(stored.type, "payment_intent.succeeded");
});

test("a stripe signature is accepted within five minutes of its time and not beyond", async () => {
  const payload = paymentEvent("evt_stripe_time");
  for (const timestamp of [seconds() - 240, seconds() + 240]) {
    assert.equal((await post(server, "/webhook", payload, stripeHeader(payload, { timestamp }))).status, 200);
  }
  for (const timestamp of [seconds() - 360, seconds() + 360]) {
    const answer = await post(server, "/webhook", payload, stripeHeader(payload, { timestamp }));
    assertProblem(answer, 403, "signature_mismatch");
  }
});

test("a stripe header with signatures of two secrets is accepted if one secret is configured", async () => {
  const payload = paymentEvent("evt_stripe_rotated");
  const timestamp = seconds();
  const ours = stripeHeader(payload, { timestamp })["Stripe-Signature"] ?? "";
  const others = stripeHeader(payload, { timestamp, secret: OTHER_SECRET })["Stripe-Signature"] ?? "";
  const both = `${others},${ours.split(",")[1]}`;
  assert.equal((await post(server, "/webhook", payload, { "Stripe-Signature": both })).status, 200);
  assertProblem(await post(server, "/webhook", payload, { "Stripe-Signature": others }), 403, "signature_mismatch");
});

test("a stripe signature with a changed timestamp is refused", async () => {
  const payload = paymentEvent("evt_stripe_moved");
  const old = stripeHeader(payload, { timestamp: seconds() - 600 })["Stripe-Signature"] ?? "";
  const moved = old.replace(/^t=[0-9]+/, `t=${seconds()}`);
  assertProblem(await post(server, "/webhook", payload, { "Stripe-Signature": moved }), 403, "signature_mismatch");
});

test("a large pull request signed by the octokit package is accepted under its delivery id", async () => {
  const payload = pullRequest();
  assert.ok(Buffer.byteLength(payload) > 50_000);
  const answer = await post(server, "/webhook", payload, {
    "X-Hub-Signature-256": await signGithub(WEBHOOK_SECRET, payload),
    "X-GitHub-Event": "pull_request",
    "X-GitHub-Delivery": "72d3162e-cc78-11e3-81ab-4c9367dc0958",
  });
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.eventId, "72d3162e-cc78-11e3-81ab-4c9367dc0958");
  const stored = await show(server, "72d3162e-cc78-11e3-81ab-4c9367dc0958");
  assert.equal(stored.type, "pull_request");
  assert.equal(stored.payload, payload);
});

test("a delivery signed by the standardwebhooks package is accepted under its webhook-id", async () => {
  const payload = JSON.stringify({ type: "user.created", data: { name: "Zoë" } });
  const answer = await post(server, "/webhook", payload, standardHeaders("msg_2KWPBgLl", payload));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.eventId, "msg_2KWPBgLl");
});

test("an event of OpenAI is accepted under the webhook-id that is signed with it", async () => {
  const payload =
    '{"id": "evt_openai", "object": "event", "created_at": 1750861210, "type": "response.completed", "data": {"id": "resp_123"}}';
  const answer = await post(server, "/webhook", payload, standardHeaders("wh_685c059a", payload));
  assert.equal(answer.status, 200, answer.text);
  assert.equal(answer.json.eventId, "wh_685c059a");
});

test("a standardwebhooks delivery with a wrong id, timestamp or secret is refused", async () => {
  const payload = JSON.stringify({ type: "user.created" });
  const good = standardHeaders("msg_refused", payload);
  const refused = [
    { ...good, "webhook-id": "msg_other" },
    { ...good, "webhook-timestamp": String(seconds() - 1) },
    standardHeaders("msg_refused", payload, new Date(Date.now() - 310_000)),
    standardHeaders("msg_refused", payload, new Date(), OTHER_SECRET),
    { "webhook-signature": good["webhook-signature"] ?? "" },
  ];
  for (const headers of refused) {
    assertProblem(await post(server, "/webhook", payload, headers), 403, "signature_mismatch");
  }
});

test("a signature of another body or by another secret is refused for every package, and nothing is stored", async () => {
  const payload = paymentEvent("evt_never_stored");
  const other = paymentEvent("evt_never_stored ");
  const refused: Record<string, string>[] = [
    stripeHeader(other),
    stripeHeader(payload, { secret: OTHER_SECRET }),
    { "X-Hub-Signature-256": await signGithub(WEBHOOK_SECRET, other) },
    { "X-Hub-Signature-256": await signGithub(OTHER_SECRET, payload) },
    standardHeaders("evt_never_stored", other),
    standardHeaders("evt_never_stored", payload, new Date(), OTHER_SECRET),
  ];
  for (const headers of refused) {
    assertProblem(await post(server, "/webhook", payload, headers), 403, "signature_mismatch");
  }
  assert.ok((await list(server)).every(({ eventId }) => eventId !== "evt_never_stored"));
});
