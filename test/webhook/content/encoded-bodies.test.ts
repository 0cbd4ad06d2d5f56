import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { suite, test } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { explainDelivery } from "../../../src/serve/explain/delivery.ts";
import type { Scheme } from "../../../src/webhook/signature/schemes.ts";
import { hmacOfBody } from "../../../src/webhook/signature/signing.ts";
import { createReverify } from "../../../src/webhook/stages/reverify.ts";
import { faultsOf, sourceIn } from "../../helpers/config-file.ts";
import { EXPLAIN_OPTIONS } from "../../helpers/explain-options.ts";
import { secretOf } from "../../helpers/secret.ts";
import { SECRET, servedSource } from "../../helpers/serve-source.ts";

// As Stream sends it, GetStream/stream-chat-java#254: the signature covers the decoded body.
const BODY = Buffer.from('{"type":"message.new","cid":"messaging:general","message":{"text":"hello"}}');
const PACKED = gzipSync(BODY);

const signatureOf = (bytes: Buffer, secret = SECRET) => createHmac("sha256", secret).update(bytes).digest("hex");
const SIGNED = { schemes: [hmacOfBody("x-signature") as Scheme], type: ["body:type" as const] };
const GZIP = { ...SIGNED, encoding: ["gzip" as const] };

const post = (body: Buffer, signature: string, coding = "gzip"): RequestInit => ({
  method: "POST",
  body: new Uint8Array(body),
  headers: { "Content-Type": "application/json", "Content-Encoding": coding, "X-Signature": signature },
});

suite("an encoded delivery", () => {
  test("is verified, read and stored decoded", async (t) => {
    const { send, stored } = await servedSource(t, GZIP);
    assert.equal((await send(post(PACKED, signatureOf(BODY)))).status, 200);
    const [event] = stored;
    assert.deepEqual([event?.type, event?.payload], ["message.new", BODY]);
    assert.doesNotMatch(String(event?.headers), /content-encoding|content-length/);
    assert.equal((await send(post(PACKED, signatureOf(PACKED)))).status, 403);
  });

  test("is verified as it was sent if the signature covers that", async (t) => {
    const { send, stored } = await servedSource(t, { ...GZIP, signedOver: "encoded" });
    assert.equal((await send(post(PACKED, signatureOf(PACKED)))).status, 200);
    assert.deepEqual(stored[0]?.payload, BODY);
    assert.equal((await send(post(PACKED, signatureOf(BODY)))).status, 403);
    assert.equal((await send(post(BODY, signatureOf(BODY), "identity"))).status, 200);
  });

  test("is the same event without the header, which no signature covers", async (t) => {
    const { send, stored } = await servedSource(t, { ...GZIP, signedOver: "encoded" });
    for (const coding of ["gzip", "identity"])
      assert.equal((await send(post(PACKED, signatureOf(PACKED), coding))).status, 200);
    assert.deepEqual(
      stored.map(({ payload }) => payload),
      [BODY, BODY],
    );
  });

  test("is the same event, however it was encoded", async (t) => {
    const { send, stored } = await servedSource(t, { ...SIGNED, encoding: ["gzip", "deflate", "br"] });
    for (const [coding, body] of [
      ["gzip", PACKED],
      ["gzip", gzipSync(BODY, { level: 1 })],
      ["deflate", deflateSync(BODY)],
      ["br", brotliCompressSync(BODY)],
      ["identity", BODY],
    ] as const)
      assert.equal((await send(post(body, signatureOf(BODY), coding))).status, 200, coding);
    assert.equal(new Set(stored.map(({ bytesSha256 }) => bytesSha256)).size, 1);
  });

  test("is refused where its source does not accept that", async (t) => {
    const { send } = await servedSource(t, SIGNED);
    const refused = await send(post(PACKED, signatureOf(BODY)));
    assert.deepEqual([refused.status, refused.headers.get("accept-encoding")], [415, "identity"]);
    const gzip = await servedSource(t, GZIP);
    const other = await gzip.send(post(brotliCompressSync(BODY), signatureOf(BODY), "br"));
    assert.deepEqual([other.status, other.headers.get("accept-encoding")], [415, "gzip"]);
  });

  test("that is no encoding but a charset or identity is accepted anywhere", async (t) => {
    const { send } = await servedSource(t, SIGNED);
    for (const name of ["identity", "utf-8", "UTF8"])
      assert.equal((await send(post(BODY, signatureOf(BODY), name))).status, 200, name);
  });

  test("is refused when it is larger decoded than the limit of its source", async (t) => {
    const bomb = gzipSync(Buffer.alloc(5_000_000));
    for (const signedOver of [undefined, "encoded"] as const) {
      const { send, stored } = await servedSource(t, { ...GZIP, ...(signedOver && { signedOver }) });
      assert.equal((await send(post(bomb, signatureOf(bomb)))).status, 413);
      assert.equal(stored.length, 0);
    }
  });

  test("is not decoded without a right signature if the signature covers it encoded", async (t) => {
    const { send } = await servedSource(t, { ...GZIP, signedOver: "encoded" });
    assert.equal((await send(post(gzipSync(Buffer.alloc(5_000_000)), signatureOf(BODY)))).status, 403);
  });

  test("that cannot be decoded is invalid", async (t) => {
    const { send } = await servedSource(t, GZIP);
    assert.equal((await send(post(BODY, signatureOf(BODY)))).status, 400);
  });
});

test("a held delivery is kept as it was sent, and verified and stored as if it had come later", async (t) => {
  for (const signedOver of [undefined, "encoded"] as const) {
    const changes = {
      ...GZIP,
      ...(signedOver && { signedOver }),
      keepRejected: { count: 1, bytes: 1000, forMs: 1000 },
    };
    const { send, held, source } = await servedSource(t, changes);
    const signature = signatureOf(signedOver ? PACKED : BODY, "the right secret");
    assert.equal((await send(post(PACKED, signature))).status, 403);
    const [kept] = held;
    assert.ok(kept);
    assert.deepEqual(kept.body, PACKED);
    assert.deepEqual(await createReverify(source)(kept), { refused: "signature_mismatch" });
    const result = await createReverify({ ...source, secrets: [secretOf("the right secret")] })(kept);
    assert.ok("event" in result);
    assert.deepEqual(result.event.payload, BODY);
  }
});

test("explain decodes a captured body, and says when its source does not accept the encoding", async (t) => {
  const explain = async (coding: string, changes = {}) => {
    const { source } = await servedSource(t, { ...GZIP, ...changes });
    const headers = {
      "content-type": "application/json",
      "content-encoding": coding,
      "x-signature": signatureOf(BODY),
    };
    const rawHeaders = Object.entries(headers).flat();
    const raw = { method: "POST", target: "/hook", headers, rawHeaders, body: PACKED, missingBytes: 0 };
    const { genuine, type, checks } = await explainDelivery(source, raw, EXPLAIN_OPTIONS);
    return { genuine, type, encoding: checks.find(({ name }) => name === "content_encoding") };
  };
  assert.deepEqual(await explain("gzip"), {
    genuine: true,
    type: "message.new",
    encoding: { name: "content_encoding", ok: true, detail: "gzip" },
  });
  const { genuine, encoding } = await explain("br");
  assert.deepEqual(
    [genuine, encoding?.ok, encoding?.detail],
    [false, false, "br, expected gzip: set encoding of the source"],
  );
});

test("a source names the encodings that it accepts, or has those of its preset", () => {
  const source = sourceIn("{ verify: { header: x-signature }, secrets: [env:SECRET], encoding: [gzip, br] }");
  assert.deepEqual([source.encoding, source.signedOver], [["gzip", "br"], undefined]);
  const nylas = sourceIn("{ preset: nylas, secrets: [env:SECRET] }");
  assert.deepEqual([nylas.encoding, nylas.signedOver], [["gzip"], "encoded"]);
  const changed = sourceIn("{ preset: nylas, secrets: [env:SECRET], signedOver: plain }");
  assert.equal(changed.signedOver, undefined);
  assert.match(
    faultsOf("{ verify: { header: x-signature }, secrets: [env:SECRET], encoding: [zstd] }").join(),
    /^encoding\.0: found .*zstd.*, expected gzip, deflate or br|^encoding\.0: found/,
  );
});
