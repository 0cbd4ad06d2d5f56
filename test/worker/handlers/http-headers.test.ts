import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { headersOf } from "../../../src/worker/handlers/http-headers.ts";
import { claimedJob } from "../../helpers/job.ts";

suite("the headers of a forwarded event", () => {
  test("have its identity and the headers of its sender", () => {
    const headers = JSON.stringify({ "user-agent": "Stripe/1.0", "x-custom": "a" });
    assert.deepEqual(headersOf(claimedJob({ headers, source: "stripe", route: "billing" }), null, 0), {
      "X-Original-user-agent": "Stripe/1.0",
      "X-Original-x-custom": "a",
      "Content-Type": "application/json",
      "Content-Length": 7,
      "User-Agent": "authserve",
      "Idempotency-Key": "billing/stripe/evt_1",
      "X-Event-Id": "evt_1",
      "X-Event-Type": "push",
      "X-Event-Source": "stripe",
      "X-Attempt": "3",
    });
  });

  test("tell a replay", () => {
    assert.equal(headersOf(claimedJob({ isReplay: true }), null, 0)["X-Replay"], "true");
  });

  test("leave out headers of the sender that are long or cannot be sent", () => {
    const headers = JSON.stringify({ long: "x".repeat(9000), bad: "a\u0001b", good: "1" });
    const names = Object.keys(headersOf(claimedJob({ headers }), null, 0)).filter((name) => /^X-Original/.test(name));
    assert.deepEqual(names, ["X-Original-good"]);
  });

  test("leave out headers of the sender that would have a meaning behind the prefix", () => {
    const meaningful = [
      "url",
      "URL",
      "uri",
      "method",
      "host",
      "for",
      "proto",
      "prefix",
      "forwarded-for",
      "forwarded_for",
    ];
    const more = ["remote-user", "remote_addr", "path", "port", "user", "scheme", "forwarded"];
    const kept = ["x-url", "x-forwarded-for", "user-agent", "x-host", "urls", "from"];
    const headers = JSON.stringify(Object.fromEntries([...meaningful, ...more, ...kept].map((name) => [name, "1"])));
    const names = Object.keys(headersOf(claimedJob({ headers }), null, 0)).filter((name) => /^X-Original/.test(name));
    assert.deepEqual(names.sort(), kept.map((name) => `X-Original-${name}`).sort());
  });

  test("have a signature that standardwebhooks verifies, for a whsec_ key and for text", () => {
    const payload = Buffer.from('{"ñ":"\u{1f600}"}');
    const now = Date.now();
    const secret = Buffer.alloc(32, 7);
    const verify = (key: Buffer, webhook: Webhook, body = payload.toString()) => {
      const headers = headersOf(claimedJob({ payload, eventId: "evt 1%" }), key, now) as Record<string, string>;
      return webhook.verify(body, headers);
    };
    const whsec = new Webhook(`whsec_${secret.toString("base64")}`);
    assert.deepEqual(verify(secret, whsec), JSON.parse(payload.toString()));
    assert.deepEqual(
      verify(Buffer.from("a plain text secret"), new Webhook("a plain text secret", { format: "raw" })),
      JSON.parse(payload.toString()),
    );
    assert.throws(() => verify(secret, whsec, '{"other":1}'));
    assert.throws(() => verify(Buffer.alloc(32, 8), whsec));
  });
});
