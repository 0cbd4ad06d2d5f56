import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { formatMultipart } from "../../../src/lib/multipart.ts";
import { deliver, event, post } from "../../helpers/client.ts";
import { WEBHOOK_SECRET } from "../../helpers/credentials.ts";
import { startServer } from "../../helpers/server.ts";
import { signature } from "../../helpers/sign.ts";
import { list, settled, show } from "../../helpers/stored-events.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const send = (body: string, headers: Record<string, string>) =>
  post(server, "/webhook", body, { "X-Hub-Signature-256": signature(body), ...headers });

test("I1 a captured body with other unsigned ids is one event, and each answer has its id", async () => {
  const body = JSON.stringify({ action: "opened", number: 1 });
  const first = await send(body, { "X-GitHub-Delivery": "captured" });
  assert.deepEqual([first.json.duplicate, first.json.eventId], [false, "captured"]);
  const again: Record<string, string>[] = [
    { "X-GitHub-Delivery": "captured" },
    { "X-GitHub-Delivery": randomUUID() },
    { "X-Request-ID": randomUUID() },
    { "webhook-id": randomUUID() },
    { "X-GitHub-Delivery": randomUUID(), "X-Event-Type": "payment.succeeded" },
    {},
  ];
  for (const headers of again) {
    const answer = await send(body, headers);
    assert.deepEqual([answer.status, answer.json.duplicate, answer.json.eventId], [200, true, "captured"]);
  }
  await settled(server, "captured");
  assert.equal(server.log("event_received").filter(({ eventId }) => eventId === "captured").length, 1);
  const { repeats } = await show(server, "captured");
  assert.deepEqual(
    repeats.map(({ number, deliveries, replayedAs }) => [number, deliveries, replayedAs]),
    [1, 2, 3].map((number) => [number, 1, null]),
    "one for each other id of the source",
  );
});

test("I1 a captured body under any number of ids keeps a bounded number of repeats", async () => {
  const body = JSON.stringify({ action: "flood" });
  for (let n = 0; n < 110; n++) await send(body, { "X-GitHub-Delivery": `flood-${n}` });
  const { repeats } = await show(server, "flood-0");
  assert.deepEqual([repeats.length, repeats[0]?.number, repeats.at(-1)?.eventId], [100, 10, "flood-109"]);
});

test("I9 a captured body under another Content-Type is one event", async (t) => {
  const dir = workingDir();
  const file = join(dir, "sources.yaml");
  const types = "[application/json, application/x-ndjson, application/x-www-form-urlencoded, multipart/form-data]";
  writeFileSync(
    file,
    `sources:\n  shop: { verify: { header: x-sig }, secrets: [env:SECRET], contentTypes: ${types} }\n`,
  );
  const shop = await startServer({ dir, env: { CONFIG_FILE: file, SECRET: WEBHOOK_SECRET } });
  t.after(() => shop[Symbol.asyncDispose]());
  const note = "&id=evt_2&";
  const bodies = [
    JSON.stringify({ id: "evt_json", type: "paid", note }),
    String(new URLSearchParams({ id: "evt_form", type: "paid", note })),
    formatMultipart(Object.entries({ id: "evt_parts", type: "paid", note }), "parts"),
  ];
  for (const body of bodies) {
    const answers: [number, string][] = [];
    let events = 0;
    for (const type of [
      "application/json",
      "application/json; charset=utf-16le",
      "application/json; charset=shift_jis",
      "application/x-ndjson",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=note",
      "multipart/form-data; boundary=parts",
    ]) {
      const headers = { "X-Sig": signature(body).slice("sha256=".length), "Content-Type": type };
      const { status, json } = await post(shop, "/webhook/shop", body, headers);
      answers.push([status, String(json.eventId)]);
      if (!json.duplicate) events++;
    }
    const id = /evt_[a-z]+/.exec(body)?.[0];
    assert.deepEqual([events, answers], [1, answers.map(() => [200, id])]);
  }
});

test("a repeat is processed as a separate event, with its own id, type and headers", async () => {
  const body = JSON.stringify({ zen: "the same each time" });
  await send(body, { "X-GitHub-Delivery": "repeated", "X-GitHub-Event": "ping" });
  await send(body, { "X-GitHub-Delivery": "other-id", "X-GitHub-Event": "pong", "X-Secret-Thing": "hidden" });
  await send(body, { "X-GitHub-Delivery": "other-id", "X-GitHub-Event": "pong" });
  const [repeat, ...others] = (await show(server, "repeated")).repeats;
  assert.deepEqual(others, []);
  assert.deepEqual([repeat?.eventId, repeat?.type, repeat?.deliveries], ["other-id", "pong", 2]);
  assert.equal(repeat?.headers["x-github-event"], "pong");
  assert.deepEqual(
    Object.keys(repeat?.headers ?? {}).filter((name) => /secret|signature/.test(name)),
    [],
  );

  const replay = (number: number) =>
    server.run(["events", "replay", "repeated", "--conflict", String(number), "--json"]);
  const { code, stdout, stderr } = await replay(1);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), { replayed: 1, eventId: "other-id" });
  await settled(server, "other-id");
  const event = await show(server, "other-id");
  assert.deepEqual([event.type, event.payload, event.headers["x-github-event"]], ["pong", body, "pong"]);
  const again = await replay(1);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /is an event already\n.*run authserve events replay other-id --source default/);
  assert.match((await replay(2)).stderr, /0 conflicts and 1 repeat, and none of them is number 2/);
  const shown = await server.run(["events", "show", "repeated"]);
  assert.match(shown.stdout, /^repeat +1: .*, 2 deliveries of the same bytes as other-id, replayed as other-id$/m);
  assert.equal((await list(server)).filter(({ eventId }) => eventId === "other-id").length, 1);
});

test("I2 webhook-id with a valid X-Signature is never the event's id", async () => {
  const body = JSON.stringify({ n: 2 });
  const answer = await deliver(server, body, { "webhook-id": "not-mine" });
  assert.match(String(answer.json.eventId), /^sha256:/);
});

test("I3 a captured body with the unsigned id of another event does not block that event", async () => {
  const captured = JSON.stringify({ action: "captured" });
  const genuine = JSON.stringify({ action: "genuine" });
  assert.equal((await send(captured, { "X-GitHub-Delivery": "genuine-id" })).json.duplicate, false);
  const answer = await send(genuine, { "X-GitHub-Delivery": "genuine-id" });
  assert.equal(answer.json.duplicate, false);
  assert.match(String(answer.json.eventId), /^sha256:[0-9a-f]{64}$/);
  assert.equal((await show(server, String(answer.json.eventId))).payload, genuine);
  assert.equal((await send(genuine, { "X-GitHub-Delivery": "genuine-id" })).json.duplicate, true);
});

test("I3 a captured body with the signed id of an event does not block that event", async () => {
  const captured = JSON.stringify({ action: "also captured" });
  assert.equal((await send(captured, { "X-GitHub-Delivery": "evt_signed" })).json.eventId, "evt_signed");
  const genuine = await deliver(server, event("evt_signed"));
  assert.equal(genuine.json.duplicate, false);
  assert.equal((await deliver(server, event("evt_signed"))).json.duplicate, true);
});

test("I4 an unsigned X-Event-Type does not change a signed type", async () => {
  await deliver(server, event("evt_type", { type: "payment.failed" }), { "X-Event-Type": "payment.succeeded" });
  assert.equal((await show(server, "evt_type")).type, "payment.failed");
});

test("I6 an id or type that cannot be stored is 400", async () => {
  for (const text of ["a\0b", "\ud800", "x".repeat(513)]) {
    assert.equal((await deliver(server, event(text))).status, 400);
    assert.equal((await deliver(server, { id: randomUUID(), type: text })).status, 400);
  }
  const body = JSON.stringify({ n: 6 });
  assert.equal((await send(body, { "X-Request-ID": "x".repeat(513) })).status, 400);
});

test("a signed webhook-id is the event's id and makes a duplicate", async () => {
  const webhook = new Webhook(WEBHOOK_SECRET);
  const sendStandard = (id: string, body: string) => {
    const now = new Date();
    return post(server, "/webhook", body, {
      "webhook-id": id,
      "webhook-timestamp": String(Math.floor(now.getTime() / 1000)),
      "webhook-signature": webhook.sign(id, now, body),
    });
  };
  const first = await sendStandard("msg_1", '{"n":7}');
  assert.deepEqual([first.status, first.json.eventId, first.json.duplicate], [200, "msg_1", false]);
  assert.equal((await sendStandard("msg_1", '{"n":7}')).json.duplicate, true);
  assert.equal((await sendStandard("msg_2", '{"n":7}')).json.duplicate, false, "equal bytes under two signed ids");
});

test("the other bytes of a conflict are processed as a separate event", async () => {
  await deliver(server, event("evt_conflict", { amount: 1 }));
  await deliver(server, event("evt_conflict", { amount: 2 }));
  const { conflicts } = await show(server, "evt_conflict");
  const { code, stdout, stderr } = await server.run(["events", "replay", "evt_conflict", "--conflict", "1", "--json"]);
  assert.equal(code, 0, stderr);
  const eventId = `sha256:${conflicts[0]?.payloadSha256}`;
  assert.deepEqual(JSON.parse(stdout), { replayed: 1, eventId });
  await settled(server, eventId);
  assert.equal((await show(server, eventId)).payload, JSON.stringify(event("evt_conflict", { amount: 2 })));
  assert.equal((await list(server, "--type", "order.paid")).filter((one) => one.eventId === eventId).length, 1);

  for (const args of [
    ["--conflict", "2"],
    ["--conflict", "1"],
  ]) {
    assert.equal((await server.run(["events", "replay", "evt_conflict", ...args])).code, 1);
  }
  for (const args of [
    ["--conflict", "0"],
    ["--conflict", "x"],
    ["--conflict", "1", "--force"],
  ]) {
    assert.equal((await server.run(["events", "replay", "evt_conflict", ...args])).code, 2);
  }
});
