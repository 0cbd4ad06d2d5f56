import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Answer, ask, assertProblem, deliver, event, post } from "../helpers/client.ts";
import { paymentEvent } from "../helpers/payloads.ts";
import { gather, openRaw, statusesIn } from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { until } from "../helpers/until.ts";

const server = await startServer({
  env: {
    WEBHOOK_BODY_LIMIT: "1k",
    TRUSTED_PROXIES: "127.0.0.1",
    WEBHOOK_ALLOWED_ADDRESSES: "192.0.2.0/24,2001:db8::/32",
  },
});
after(() => server[Symbol.asyncDispose]());

const LARGE = JSON.stringify(event("large", { pad: "x".repeat(2000) }));
const ALLOWED = { "X-Forwarded-For": "192.0.2.7" };

test("checks run in this order: method, content type, address, signature header, size, signature, payload", async () => {
  const flaws: [flaw: string, status: number, send: () => Promise<Answer>][] = [
    [
      "method",
      405,
      () => ask(server, "/webhook", { method: "PUT", body: LARGE, headers: { "Content-Type": "text/plain" } }),
    ],
    ["content type", 415, () => post(server, "/webhook", LARGE, { "Content-Type": "text/plain" })],
    ["address", 403, () => post(server, "/webhook", LARGE)],
    ["signature header", 403, () => post(server, "/webhook", LARGE, ALLOWED)],
    ["size", 413, () => post(server, "/webhook", LARGE, { ...ALLOWED, "X-Signature": signature("other") })],
    ["signature", 403, () => post(server, "/webhook", "not json", { ...ALLOWED, "X-Signature": signature("other") })],
    ["payload", 400, () => deliver(server, "not json", ALLOWED)],
    ["nothing", 200, () => deliver(server, event("good"), ALLOWED)],
  ];
  const codes: unknown[] = [];
  for (const [flaw, status, send] of flaws) {
    const answer = await send();
    assert.equal(answer.status, status, flaw);
    codes.push(answer.json.code);
  }
  assert.deepEqual(codes, [
    "method_not_allowed",
    "unsupported_media_type",
    "address_not_allowed",
    "signature_mismatch",
    "payload_too_large",
    "signature_mismatch",
    "invalid_payload",
    undefined,
  ]);
});

test("an allowed address must come from a trusted proxy, not from a header of the sender", async () => {
  const answers: [forwarded: string, status: number][] = [
    ["192.0.2.1", 200],
    ["203.0.113.9, 192.0.2.1", 200],
    ["192.0.2.1, 203.0.113.9", 403],
    ["::ffff:192.0.2.1", 200],
    ["2001:DB8:0::1", 200],
    ["2001:db9::1", 403],
    ["192.0.2.1, nonsense", 403],
  ];
  for (const [forwarded, status] of answers) {
    const answer = await deliver(server, event("address"), { "X-Forwarded-For": forwarded });
    assert.equal(answer.status, status, forwarded);
  }
});

test("an envelope with an invalid member is answered 400 with the member's name", async () => {
  const envelope = JSON.parse(paymentEvent("evt_envelope")) as Record<string, unknown>;
  const wrong: [path: string, change: Record<string, unknown>][] = [
    ["id", { id: "" }],
    ["id", { id: 7 }],
    ["id", { id: undefined }],
    ["type", { type: "" }],
    ["type", { type: null }],
    ["created", { created: "1767225600" }],
    ["created", { created: 1.5 }],
    ["created", { created: undefined }],
    ["data.object", { data: {} }],
    ["data.object", { data: { object: [] } }],
    ["data.object", { data: null }],
    ["livemode", { livemode: "false" }],
  ];
  for (const [path, change] of wrong) {
    const answer = await deliver(server, { ...envelope, data: { object: {} }, ...change }, ALLOWED);
    assertProblem(answer, 400, "invalid_payload");
    assert.deepEqual(
      (answer.json.errors as { path: string }[]).map((error) => error.path),
      [path],
    );
  }
});

test("a payload that is not an object is answered 400", async () => {
  for (const payload of ["[]", "null", "1", '"x"', "true", ""]) {
    assertProblem(await deliver(server, payload, ALLOWED), 400, "invalid_payload");
  }
});

test("an id or a type that is too long is answered 400", async () => {
  assertProblem(await deliver(server, event("x".repeat(513)), ALLOWED), 400, "invalid_payload");
  assert.equal((await deliver(server, event("x".repeat(512)), ALLOWED)).status, 200);
  const long = { id: "long-type", type: "x".repeat(257) };
  assertProblem(await deliver(server, long, ALLOWED), 400, "invalid_payload");
});

test("a signed delivery is refused from an address that is not allowed", async () => {
  const body = JSON.stringify(event("outside"));
  const answer = await post(server, "/webhook", body, {
    "X-Signature": signature(body),
    "X-Forwarded-For": "198.51.100.1",
  });
  assertProblem(answer, 403, "address_not_allowed");
});

test("a delivery that cannot be genuine is refused before its body is read", async () => {
  for (const header of ["", "X-Signature: junk\r\n", "Stripe-Signature: t=1,v1=00\r\n"]) {
    const socket = await openRaw(server.port);
    const received = gather(socket);
    const head =
      "POST /webhook HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nX-Forwarded-For: 192.0.2.7\r\n";
    socket.write(`${head}${header}Content-Length: 1000\r\n\r\n`);
    await until(() => statusesIn(received()).length === 1);
    assert.deepEqual(statusesIn(received()), [403]);
    socket.destroy();
  }
});

test("the reason of a refusal is in the log and a counter, but not in the response", async () => {
  const old = `t=1,v1=${"0".repeat(64)}`;
  const cases: [reason: string, headers: Record<string, string>][] = [
    ["no_signature", {}],
    ["malformed_signature", { "X-Signature": "junk" }],
    ["signature_mismatch", { "X-Signature": signature("other") }],
    ["timestamp_missing", { "Stripe-Signature": `v1=${"0".repeat(64)}` }],
    ["timestamp_too_old", { "Stripe-Signature": old }],
    ["timestamp_in_future", { "Stripe-Signature": `t=99999999999,v1=${"0".repeat(64)}` }],
    ["address_not_allowed", { "X-Forwarded-For": "203.0.113.1" }],
  ];
  const answers = new Set<string>();
  for (const [reason, headers] of cases) {
    const id = `why-${reason}`;
    const before = await counted(reason);
    const answer = await post(server, "/webhook", "{}", { ...ALLOWED, "X-Request-ID": id, ...headers });
    assert.equal(answer.status, 403);
    const line = await until(() => server.log("request_completed").find(({ requestId }) => requestId === id));
    assert.equal(line.reason, reason);
    assert.equal((await counted(reason)) - before, 1);
    if (reason !== "address_not_allowed") answers.add(answer.text.replace(id, ""));
  }
  assert.equal(answers.size, 1, "the sender learns nothing of the reason");
});

/** The number of deliveries that were refused for a reason. */
async function counted(reason: string): Promise<number> {
  const { text } = await ask(server, "/metrics", { headers: { "X-Forwarded-For": "127.0.0.1" } });
  const value = new RegExp(`^authserve_deliveries_not_genuine_total{reason="${reason}"} ([0-9]+)$`, "m").exec(
    text,
  )?.[1];
  return Number(value);
}

test("an id or a type with U+0000 is answered 400", async () => {
  assertProblem(await deliver(server, event("nul\0"), ALLOWED), 400, "invalid_payload");
  assertProblem(await deliver(server, { id: "nul-type", type: "a\0" }, ALLOWED), 400, "invalid_payload");
});

test("the previous secret is accepted too", async () => {
  await using rotated = await startServer({ env: { WEBHOOK_SECRET_PREVIOUS: "the secret of last month" } });
  const sent = async (id: string, secret?: string) => {
    const body = JSON.stringify(event(id));
    return (await post(rotated, "/webhook", body, { "X-Signature": signature(body, secret) })).status;
  };
  assert.deepEqual(
    [await sent("new"), await sent("old", "the secret of last month"), await sent("no", "x")],
    [200, 200, 403],
  );
});
