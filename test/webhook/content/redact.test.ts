import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { suite, type TestContext, test } from "node:test";
import { FORM } from "../../../src/lib/header-value.ts";
import { formatMultipart } from "../../../src/lib/multipart.ts";
import { createReverify } from "../../../src/webhook/stages/reverify.ts";
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

  test("stores no redacted field of a form, and no member of the JSON in it", async (t) => {
    const { send, stored } = await serve(t, ', contentTypes: ["*/*"], id: body:id');
    const form = { "content-type": FORM, "x-card": CARD };
    const payload = new URLSearchParams({ payload: BODY }).toString();
    for (const body of [`id=a&data[card]=${CARD}`, `data.card=${CARD}&id=b`, payload]) {
      const { status } = await send(post(body, form));
      assert.equal(status, 200);
    }
    assert.deepEqual(
      stored.map(({ eventId }) => eventId),
      ["a", "b", "evt_1"],
    );
    for (const event of stored)
      assert.doesNotMatch(JSON.stringify({ ...event, payload: String(event.payload) }), new RegExp(CARD));
  });

  test("refuses what is neither JSON nor a form, and stores nothing of it", async (t) => {
    const { send, stored, lines } = await serve(t, ', contentTypes: ["*/*"]');
    for (const [type, body] of [
      ["text/plain", `card=${CARD}`],
      ["text/xml", `<card>${CARD}</card>`],
      ["application/json", `{"card":${CARD}`],
      // What is broken JSON is read as far as it goes, whatever it is called.
      [FORM, `{"data":{"card":${CARD}},}`],
      [FORM, `payload={"data":{"card":${CARD}},}`],
      ["multipart/form-data; boundary=x", formatMultipart([["card", CARD]], "x")],
    ] as const) {
      const { status, text } = await send(post(body, { "content-type": type }));
      assert.equal(status, 400);
      assert.match(text, /must be JSON or a form in UTF-8, of which the source can redact members/);
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
    // Of a body that cannot be redacted, nothing is held.
    await send(post(`card=${CARD}`, signature));
    assert.equal(held.length, 1);
    const form = { ...signature, "content-type": FORM };
    await send(post(`data[card]=${CARD}`, form), `?card=${CARD}`);
    const [, ofForm] = held;
    assert.deepEqual([String(ofForm?.body), ofForm?.target], ["data[card]=%5Bredacted%5D", "/hook"]);
    assert.deepEqual(await createReverify(source)(ofForm ?? assert.fail()), { refused: "redacted" });
  });
});
