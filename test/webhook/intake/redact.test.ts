import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { suite, type TestContext, test } from "node:test";
import { createReverify } from "../../../src/webhook/held/reverify.ts";
import { SECRET, serveSource } from "../../helpers/serve-source.ts";

const CARD = "4242424242424242";
const BODY = JSON.stringify({ id: "evt_1", type: "paid", data: { card: { number: CARD }, amount: 5 } });

const serve = (context: TestContext, more = "") =>
  serveSource(
    context,
    `{ verify: { type: token, header: authorization }, secrets: [env:SECRET], path: /hook, redact: [data.card]${more} }`,
  );

const post = (body: string, headers: Record<string, string> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", authorization: SECRET, ...headers },
  body,
});

suite("a source that redacts", () => {
  test("stores no redacted member, also not in a header, and the digest of what came", async (t) => {
    const { send, stored } = await serve(t);
    const { status } = await send(post(BODY, { "x-card": `card ${CARD}`, "x-other": "kept" }));
    assert.equal(status, 200);
    const [event] = stored;
    assert.ok(event);
    assert.doesNotMatch(JSON.stringify({ ...event, payload: String(event.payload) }), new RegExp(CARD));
    assert.equal(String(event.payload), BODY.replace(/\{"number".*?\}/, '"[redacted]"'));
    assert.equal(event.bytesSha256, hash("sha256", BODY));
    const { "x-card": card, "x-other": other } = JSON.parse(event.headers);
    assert.deepEqual([card, other], ["[redacted]", "kept"]);
  });

  test("refuses what is not JSON, and stores nothing of it", async (t) => {
    const { send, stored, lines } = await serve(t, ', contentTypes: ["*/*"]');
    for (const [type, body] of [
      ["application/x-www-form-urlencoded", `card=${CARD}`],
      ["text/xml", `<card>${CARD}</card>`],
      ["application/json", `{"card":${CARD}`],
    ] as const) {
      const { status, text } = await send(post(body, { "content-type": type }));
      assert.equal(status, 400);
      assert.match(text, /must be JSON in UTF-8, of which the source can redact members/);
    }
    assert.deepEqual(stored, []);
    assert.doesNotMatch(JSON.stringify(lines), new RegExp(CARD));
  });

  test("holds a refused delivery without the member, which nothing verifies any more", async (t) => {
    const { send, held, source } = await serveSource(
      t,
      "{ preset: github, secrets: [env:SECRET], path: /hook, redact: [data.card], keepRejected: {} }",
    );
    const signature = { "x-hub-signature-256": `sha256=${"0".repeat(64)}`, "x-github-delivery": CARD };
    assert.equal((await send(post(BODY, signature))).status, 403);
    const [delivery] = held;
    assert.ok(delivery);
    assert.doesNotMatch(JSON.stringify({ ...delivery, body: String(delivery.body) }), new RegExp(CARD));
    assert.deepEqual(await createReverify(source)(delivery), { refused: "redacted" });
    // Of a body that is no JSON, nothing is held.
    await send(post(`card=${CARD}`, signature));
    assert.equal(held.length, 1);
  });
});
