import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { deliver, event } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { settled, show, stats } from "../helpers/stored-events.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("the event id is the first that is there: event body, webhook-id, delivery header, request id, body, digest", async () => {
  const headers = {
    "webhook-id": "from-webhook-id",
    "X-GitHub-Delivery": "from-delivery",
    "X-Request-ID": "from-request",
  };
  const { "webhook-id": _, ...noWebhookId } = headers;
  const { "X-GitHub-Delivery": __, ...requestIdOnly } = noWebhookId;
  const bare = JSON.stringify({ n: 1 });
  const cases: [body: object | string, headers: Record<string, string>, eventId: string][] = [
    [event("from-event"), headers, "from-event"],
    [{ id: "no-type" }, headers, "from-webhook-id"],
    [{ id: 7, type: "order.paid" }, headers, "from-webhook-id"],
    [{ id: "", type: "order.paid" }, headers, "from-webhook-id"],
    [{ n: 1 }, noWebhookId, "from-delivery"],
    [{ n: 1 }, requestIdOnly, "from-request"],
    [{ id: "no-type" }, {}, "no-type"],
    [bare, {}, `sha256:${sha256(bare)}`],
  ];
  for (const [body, given, eventId] of cases) {
    const answer = await deliver(server, body, given);
    assert.equal(answer.status, 200);
    assert.equal(answer.json.eventId, eventId);
  }
});

test("the event type is the first that is there: X-Event-Type, X-GitHub-Event, the body's, unknown", async () => {
  const cases: [id: string, headers: Record<string, string>, body: object, type: string][] = [
    ["type-1", { "X-Event-Type": "a", "X-GitHub-Event": "b" }, { type: "c" }, "a"],
    ["type-2", { "X-GitHub-Event": "b" }, { type: "c" }, "b"],
    ["type-3", {}, { type: "c" }, "c"],
    ["type-4", {}, {}, "unknown"],
  ];
  for (const [id, headers, body, type] of cases) {
    await deliver(server, { id, ...body }, headers);
    assert.equal((await show(server, id)).type, type);
  }
});

test("the same delivery again is a duplicate and runs nothing again", async () => {
  const first = await deliver(server, event("twice"));
  await settled(server, "twice");
  const second = await deliver(server, event("twice"));
  assert.deepEqual([first.json.duplicate, second.json.duplicate], [false, true]);
  assert.deepEqual(Object.keys(second.json), ["received", "duplicate", "eventId"]);
  const stored = await show(server, "twice");
  assert.deepEqual([stored.status, stored.attempts, stored.conflicts], ["processed", 1, []]);
});

test("other bytes under a known id leave the event as it was and are counted as a conflict", async () => {
  const before = await stats(server);
  await deliver(server, event("conflict", { amount: 1 }));
  await settled(server, "conflict");
  for (const amount of [2, 2, 3]) {
    const answer = await deliver(server, event("conflict", { amount }));
    assert.deepEqual([answer.status, answer.json.duplicate], [200, true]);
  }
  const stored = await show(server, "conflict");
  assert.equal(stored.payload, JSON.stringify(event("conflict", { amount: 1 })));
  assert.equal(stored.attempts, 1);
  assert.deepEqual(
    stored.conflicts.map(({ payloadSha256, deliveries }) => [payloadSha256, deliveries]),
    [2, 3].map((amount) => [sha256(JSON.stringify(event("conflict", { amount }))), amount === 2 ? 2 : 1]),
  );
  assert.equal((await stats(server)).conflicts, Number(before.conflicts) + 3);
  assert.equal(server.log("delivery_conflict").filter((line) => line.eventId === "conflict").length, 3);
});

test("of parallel deliveries with one id exactly one is not a duplicate", async () => {
  for (const id of ["race-1", "race-2", "race-3"]) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver(server, event(id))));
    assert.equal(answers.filter(({ json }) => json.duplicate === false).length, 1);
    await settled(server, id);
    assert.equal(server.log("event_received").filter((line) => line.eventId === id).length, 1);
  }
});

test("the stored bytes are those that came, spaces, escapes and all", async () => {
  const body =
    '{ "id" : "bytes",\r\n\t"type":"order.paid", "\\u00e1": "ñ\\/☕", "n": 1.0e2 , "big": 12345678901234567890 }\n';
  assert.equal((await deliver(server, body)).status, 200);
  assert.equal((await show(server, "bytes")).payload, body);
});

test("the stored headers keep where an event came from and nothing that proves who the sender is", async () => {
  const body = JSON.stringify(event("origin"));
  await deliver(server, body, {
    "User-Agent": "sender/1.0",
    "X-Custom": "kept",
    "X-Hub-Signature-256": signature(body),
    "Stripe-Signature": "t=1,v1=00",
    "webhook-signature": "v1,aaaa",
    Authorization: "Bearer very-secret",
    Cookie: "session=very-secret",
    "X-Api-Key": "very-secret",
    "X-Auth-Token": "very-secret",
  });
  const stored = await show(server, "origin");
  assert.equal(stored.address, "127.0.0.1");
  assert.equal(stored.contentType, "application/json");
  assert.equal(stored.headers["user-agent"], "sender/1.0");
  assert.equal(stored.headers["x-custom"], "kept");
  assert.deepEqual(
    Object.keys(stored.headers).filter((name) => /signature|authorization|cookie|key|token/.test(name)),
    [],
  );
  assert.doesNotMatch(JSON.stringify(stored), /very-secret/);
});
