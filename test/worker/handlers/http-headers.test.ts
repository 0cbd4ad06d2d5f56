import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { Webhook } from "standardwebhooks";
import type { ClaimedJob } from "../../../src/events/job.ts";
import { bodyOf, headersOf } from "../../../src/worker/handlers/http-headers.ts";
import type { HttpTarget } from "../../../src/worker/route.ts";
import { claimedJob } from "../../helpers/job.ts";

function headersFor(job: Partial<ClaimedJob>, target: Partial<HttpTarget> = {}, now = 0) {
  const claimed = claimedJob(job);
  return headersOf(claimed, bodyOf(claimed, target), { key: null, ...target }, now);
}

suite("the headers of a forwarded event", () => {
  test("have its identity and the headers of its sender", () => {
    const headers = JSON.stringify({ "user-agent": "Stripe/1.0", "x-custom": "a" });
    assert.deepEqual(headersFor({ headers, source: "stripe", route: "billing" }), {
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
    assert.equal(headersFor({ isReplay: true })["X-Replay"], "true");
  });

  test("have those of the target, which may replace the content type", () => {
    const headers = { authorization: "Bearer a", "content-type": "text/plain" };
    const { authorization, "content-type": type } = headersFor({}, { headers });
    assert.deepEqual([authorization, type], ["Bearer a", "text/plain"]);
  });

  test("name no type if the delivery had none", () => {
    const headers = headersFor({ contentType: "", payload: Buffer.from("a") });
    assert.deepEqual([headers["Content-Type"], headers["Content-Length"]], [undefined, 1]);
  });

  test("of a method without a body say nothing of one, and sign none", () => {
    const key = Buffer.from("a plain text secret");
    const now = Date.now();
    for (const method of ["GET", "DELETE"] as const) {
      const headers = headersFor({}, { key, method }, now) as Record<string, string>;
      assert.deepEqual([headers["Content-Type"], headers["Content-Length"]], [undefined, undefined]);
      const { "webhook-id": id, "webhook-timestamp": time, "webhook-signature": signature } = headers;
      assert.equal(signature, `v1,${createHmac("sha256", key).update(`${id}.${time}.`).digest("base64")}`);
    }
  });

  test("leave out headers of the sender that are long or cannot be sent", () => {
    const headers = JSON.stringify({ long: "x".repeat(9000), bad: "a\u0001b", good: "1" });
    const names = Object.keys(headersFor({ headers })).filter((name) => /^X-Original/.test(name));
    assert.deepEqual(names, ["X-Original-good"]);
  });

  // https://github.com/probot/smee-client/issues/320
  test("fit into the 8 KiB that Jetty and Tomcat take, however many the sender has", () => {
    const many = Array.from({ length: 300 }, (_, nth) => [`x-${nth}`, "v".repeat(50)]);
    const target = { key: Buffer.from("a plain text secret"), headers: { Authorization: `Bearer ${"t".repeat(800)}` } };
    const headers = headersFor({ headers: JSON.stringify(Object.fromEntries(many)), isReplay: true }, target);
    const size = Object.entries(headers).reduce((sum, [name, value]) => sum + `${name}: ${value}\r\n`.length, 0);
    assert.ok(size > 6 * 1024 && size < 7.75 * 1024, String(size));
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
    const names = Object.keys(headersFor({ headers })).filter((name) => /^X-Original/.test(name));
    assert.deepEqual(names.sort(), kept.map((name) => `X-Original-${name}`).sort());
  });

  test("have a signature that standardwebhooks verifies, for a whsec_ key and for text", () => {
    const payload = Buffer.from('{"ñ":"\u{1f600}"}');
    const now = Date.now();
    const secret = Buffer.alloc(32, 7);
    const verify = (key: Buffer, webhook: Webhook, body = payload.toString()) => {
      const headers = headersFor({ payload, eventId: "evt 1%" }, { key }, now) as Record<string, string>;
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
