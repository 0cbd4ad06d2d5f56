import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { after, test } from "node:test";
import { type Answer, ask, deliver, event, post } from "../helpers/client.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { settled, show, stats } from "../helpers/stored-events.ts";
import { until } from "../helpers/until.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

test("the event id is the first present of: body, GitHub's delivery id if GitHub signed, request id, digest", async () => {
  const headers = {
    "webhook-id": "from-webhook-id",
    "X-GitHub-Delivery": "from-delivery",
    "X-Request-ID": "from-request",
  };
  const bare = (n: number) => JSON.stringify({ n });
  const byGitHub = (body: string) => ({ "X-Hub-Signature-256": signature(body) });
  const cases: [body: object | string, headers: Record<string, string>, eventId: string][] = [
    [event("from-event"), headers, "from-event"],
    [bare(1), { ...headers, ...byGitHub(bare(1)) }, "from-delivery"],
    [{ id: "no-type" }, headers, "from-request"],
    [bare(2), {}, `sha256:${sha256(bare(2))}`],
    [bare(3), { "webhook-id": "w", "X-GitHub-Delivery": "g" }, `sha256:${sha256(bare(3))}`],
  ];
  for (const [body, given, eventId] of cases) {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const signed = "X-Hub-Signature-256" in given ? given : { "X-Signature": signature(text), ...given };
    const answer = await post(server, "/webhook", text, signed);
    assert.equal(answer.status, 200);
    assert.equal(answer.json.eventId, eventId);
  }
});

test("the event type is the first present of: body, X-Event-Type, X-GitHub-Event, unknown", async () => {
  const cases: [headers: Record<string, string>, body: object, type: string][] = [
    [{ "X-Event-Type": "a", "X-GitHub-Event": "b" }, { type: "c" }, "c"],
    [{ "X-Event-Type": "a", "X-GitHub-Event": "b" }, {}, "a"],
    [{ "X-GitHub-Event": "b" }, {}, "b"],
    [{}, {}, "unknown"],
  ];
  for (const [index, [headers, body, type]] of cases.entries()) {
    const { json } = await deliver(server, { case: index, ...body }, headers);
    assert.equal((await show(server, String(json.eventId))).type, type);
  }
});

test("a repeated delivery is a duplicate and is not processed again", async () => {
  const first = await deliver(server, event("twice"));
  await settled(server, "twice");
  const second = await deliver(server, event("twice"));
  assert.deepEqual([first.json.duplicate, second.json.duplicate], [false, true]);
  assert.deepEqual(Object.keys(second.json), ["received", "duplicate", "eventId"]);
  const stored = await show(server, "twice");
  assert.deepEqual([stored.status, stored.attempts, stored.conflicts], ["processed", 1, []]);
});

test("different bytes with a known id do not change the event, and count as a conflict", async () => {
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
  const logged = () => server.log("delivery_conflict").filter((line) => line.eventId === "conflict").length;
  await until(() => logged() === 3);
});

test("known bytes under another unsigned id count as a repeat, and are logged with both ids", async () => {
  const body = { note: "the same bytes" };
  const answers: Answer[] = [];
  for (const id of ["first-id", "second-id", "second-id"])
    answers.push(await deliver(server, body, { "X-Request-ID": id }));
  assert.deepEqual(
    answers.map(({ json }) => [json.duplicate, json.eventId]),
    [false, true, true].map((duplicate) => [duplicate, "first-id"]),
  );
  await until(() => server.log("delivery_repeat").length === 1);
  const [line] = server.log("delivery_repeat");
  assert.deepEqual([line?.eventId, line?.deliveredId, line?.source], ["first-id", "second-id", "default"]);
  const { text } = await ask(server, "/metrics");
  assert.match(text, /^authserve_deliveries_total\{result="repeat"\} 1$/m);
  await until(async () => {
    const { total } = (await stats(server)) as unknown as { total: Record<string, number> };
    return total.repeat === 1;
  });
});

test("exactly one of several parallel deliveries with one id is not a duplicate", async () => {
  for (const id of ["race-1", "race-2", "race-3"]) {
    const answers = await Promise.all(Array.from({ length: 8 }, () => deliver(server, event(id))));
    assert.equal(answers.filter(({ json }) => json.duplicate === false).length, 1);
    await settled(server, id);
    assert.equal(server.log("event_received").filter((line) => line.eventId === id).length, 1);
  }
});

test("the stored bytes are exactly those received, with all spaces and escapes", async () => {
  const body =
    '{ "id" : "bytes",\r\n\t"type":"order.paid", "\\u00e1": "ñ\\/☕", "n": 1.0e2 , "big": 12345678901234567890 }\n';
  assert.equal((await deliver(server, body)).status, 200);
  assert.equal((await show(server, "bytes")).payload, body);
});

test("the stored headers show where an event came from, but have no signatures or credentials", async () => {
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
    "X-Credential": "very-secret",
    "X-Passphrase": "very-secret",
    "X-Shared-Secret": "very-secret",
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
