import assert from "node:assert/strict";
import { after, test } from "node:test";
import { type Answer, ask, assertProblem, deliver, event, post } from "../helpers/client.ts";
import { paymentEvent } from "../helpers/payloads.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";

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

test("what is wrong first is what is answered: method, content type, address, size, signature, payload", async () => {
  const flaws: [flaw: string, status: number, send: () => Promise<Answer>][] = [
    [
      "method",
      405,
      () => ask(server, "/webhook", { method: "PUT", body: LARGE, headers: { "Content-Type": "text/plain" } }),
    ],
    ["content type", 415, () => post(server, "/webhook", LARGE, { "Content-Type": "text/plain" })],
    ["address", 403, () => post(server, "/webhook", LARGE)],
    ["size", 413, () => post(server, "/webhook", LARGE, ALLOWED)],
    ["signature", 403, () => post(server, "/webhook", "not json", ALLOWED)],
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
    "payload_too_large",
    "signature_mismatch",
    "invalid_payload",
    undefined,
  ]);
});

test("an address is allowed by what a trusted proxy says and not by what the sender adds", async () => {
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

test("an envelope with a wrong member is answered 400 with the member's name", async () => {
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

test("an id or a type longer than any sender's is answered 400", async () => {
  assertProblem(await deliver(server, event("x".repeat(513)), ALLOWED), 400, "invalid_payload");
  assert.equal((await deliver(server, event("x".repeat(512)), ALLOWED)).status, 200);
  const long = { id: "long-type", type: "x".repeat(257) };
  assertProblem(await deliver(server, long, ALLOWED), 400, "invalid_payload");
});

test("the same bytes signed by the sender are refused from an address outside", async () => {
  const body = JSON.stringify(event("outside"));
  const answer = await post(server, "/webhook", body, {
    "X-Signature": signature(body),
    "X-Forwarded-For": "198.51.100.1",
  });
  assertProblem(answer, 403, "address_not_allowed");
});
