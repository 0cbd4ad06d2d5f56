import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, test } from "node:test";
import { assertProblem, event, post } from "../helpers/client.ts";
import { WEBHOOK_SECRET } from "../helpers/credentials.ts";
import { request } from "../helpers/raw-http.ts";
import { startServer } from "../helpers/server.ts";
import { signature } from "../helpers/sign.ts";
import { stats } from "../helpers/stored-events.ts";

const server = await startServer();
after(() => server[Symbol.asyncDispose]());

const BODY = JSON.stringify(event("plain"));
const mac = (encoding: "hex" | "base64", hash = "sha256") =>
  createHmac(hash, WEBHOOK_SECRET).update(BODY).digest(encoding);

test("an HMAC in hex of any case or in base64 is accepted, with or without a prefix, in each of the three headers", async () => {
  const values = [mac("hex"), mac("hex").toUpperCase(), mac("base64")].flatMap((value) => [value, `sha256=${value}`]);
  for (const header of ["X-Signature", "X-Hub-Signature", "X-Hub-Signature-256"]) {
    for (const value of values) {
      const answer = await post(server, "/webhook", BODY, { [header]: value });
      assert.equal(answer.status, 200, `${header}: ${value}`);
    }
  }
});

test("a missing or malformed signature is answered 403, without help to forge one", async () => {
  const hex = mac("hex");
  const values = [
    undefined,
    "",
    "sha256=",
    hex.slice(0, -1),
    `${hex}0`,
    `${hex.slice(0, -1)}g`,
    ` ${hex.slice(2)}`,
    `sha256=sha256=${hex}`,
    `sha1=${mac("hex", "sha1")}`,
    mac("hex", "sha1"),
    mac("hex", "sha512"),
    `sha512=${mac("hex", "sha512")}`,
    mac("base64").slice(0, -1),
    `${mac("base64")}=`,
    mac("base64").replace(/.=$/, "/="),
    `${hex},${hex}`,
    "0".repeat(64),
    "null",
    "x".repeat(8000),
  ];
  for (const value of values) {
    const answer = await post(server, "/webhook", BODY, value === undefined ? {} : { "X-Signature": value });
    assertProblem(answer, 403, "signature_mismatch");
    assert.ok(!answer.text.includes(hex) && !answer.text.includes(WEBHOOK_SECRET));
  }
});

test("a signature of another body, of another secret or in another header is answered 403", async () => {
  const refused: Record<string, string>[] = [
    { "X-Signature": signature(`${BODY} `) },
    { "X-Signature": signature(BODY, `${WEBHOOK_SECRET} `) },
    { "X-Signature": signature(BODY, "") },
    { "X-Signature-2": signature(BODY) },
    { Signature: signature(BODY) },
    { Authorization: signature(BODY) },
  ];
  for (const headers of refused) {
    assertProblem(await post(server, "/webhook", BODY, headers), 403, "signature_mismatch");
  }
});

test("a signature in the query is ignored", async () => {
  assertProblem(await post(server, `/webhook?X-Signature=${signature(BODY)}`, BODY), 403, "signature_mismatch");
});

test("the signature covers the bytes, not the parsed JSON", async () => {
  const spaced = JSON.stringify(JSON.parse(BODY), null, 1);
  assertProblem(await post(server, "/webhook", spaced, { "X-Signature": signature(BODY) }), 403, "signature_mismatch");
});

test("two signature headers of the same name are refused", async () => {
  const answer = await request(server.port, {
    method: "POST",
    target: "/webhook",
    lines: [
      "Content-Type: application/json",
      `Content-Length: ${BODY.length}`,
      "X-Signature: sha256=00",
      `X-Signature: ${signature(BODY)}`,
    ],
    body: BODY,
  });
  assert.equal(answer.status, 403);
});

test("a refused delivery is not stored", async () => {
  const before = await stats(server);
  const refused = JSON.stringify(event("refused"));
  await post(server, "/webhook", refused, { "X-Signature": signature(BODY) });
  const after = await stats(server);
  assert.equal(after.queued, before.queued);
  assert.equal(after.processed, before.processed);
});

test("without a secret there is no webhook route and the log says so", async () => {
  await using without = await startServer({ env: { WEBHOOK_SECRET: undefined } });
  const answer = await post(without, "/webhook", BODY, { "X-Signature": signature(BODY, "") });
  assertProblem(answer, 404, "not_found");
  assert.match(
    without
      .log("setting_warning")
      .map(({ message }) => message)
      .join(),
    /WEBHOOK_SECRET/,
  );
});

for (const [what, secret, warning] of [
  ["ends with a blank", "a secret of words and a blank ", /WEBHOOK_SECRET begins or ends with white space/],
  ["ends with a second line end", "a secret of words and an end\n", /WEBHOOK_SECRET begins or ends with white space/],
  [
    "has more than base64 after whsec_",
    "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLa|w",
    /WEBHOOK_SECRET is not base64 after whsec_/,
  ],
] as const) {
  test(`a secret that ${what} is used unchanged, and a log line says so without the secret`, async () => {
    await using server = await startServer({ env: { WEBHOOK_SECRET: secret } });
    const warnings = server.log("setting_warning").map(({ message }) => message);
    assert.match(warnings.join(), warning);
    assert.ok(!warnings.join().includes(secret.trim()));
    const body = JSON.stringify(event("as it is"));
    assert.equal((await post(server, "/webhook", body, { "X-Signature": signature(body, secret) })).status, 200);
  });
}
