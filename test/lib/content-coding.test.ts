import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { requireCoding } from "../../src/lib/body-headers.ts";
import { codingIn, decodeBody } from "../../src/lib/content-coding.ts";
import { failsWith, throwsCode } from "../helpers/fails-with.ts";

const BODY = Buffer.from('{"id":"e1","text":"some text, some text, some text"}');

test("Content-Encoding names a coding, and identity and charsets are none", () => {
  for (const [header, coding] of [
    ["gzip", "gzip"],
    ["GZIP", "gzip"],
    ["x-gzip", "gzip"],
    ["gzip, identity", "gzip"],
    ["br", "br"],
    ["deflate", "deflate"],
    ["identity", null],
    ["UTF-8", null],
    ["iso-8859-1", null],
    ["", null],
    [undefined, null],
    ["gzip, gzip", undefined],
    ["zstd", undefined],
    ["aes128gcm", undefined],
  ] as const)
    assert.equal(codingIn(header), coding, String(header));
});

test("a coding that is not accepted is unsupported, and the answer names those that are", () => {
  const request = { headers: { "content-encoding": "br" } };
  assert.equal(requireCoding(request, ["gzip", "br"]), "br");
  throwsCode("unsupported_media_type", () => requireCoding(request, []));
  assert.throws(() => requireCoding(request, ["gzip", "deflate"]), {
    headers: { "Accept-Encoding": "gzip, deflate" },
  });
  assert.equal(requireCoding({ headers: { "content-encoding": "identity" } }, []), null);
});

suite("an encoded body", () => {
  for (const [name, coding, encoded] of [
    ["gzip", "gzip", gzipSync(BODY)],
    ["gzip in two members", "gzip", Buffer.concat([gzipSync(BODY.subarray(0, 9)), gzipSync(BODY.subarray(9))])],
    ["deflate", "deflate", deflateSync(BODY)],
    ["deflate without the header of zlib", "deflate", deflateRawSync(BODY)],
    ["br", "br", brotliCompressSync(BODY)],
  ] as const)
    test(`is decoded from ${name}`, async () => {
      assert.deepEqual(await decodeBody(encoded, coding, BODY.length), BODY);
    });

  test("is too large as soon as its decoded bytes exceed the limit", async () => {
    const bomb = Buffer.alloc(50_000_000);
    for (const [coding, encoded] of [
      ["gzip", gzipSync(bomb)],
      ["deflate", deflateSync(bomb)],
      ["br", brotliCompressSync(bomb)],
    ] as const)
      await failsWith("payload_too_large", decodeBody(encoded, coding, 1000));
    await failsWith("payload_too_large", decodeBody(gzipSync(BODY), "gzip", BODY.length - 1));
  });

  test("that is broken or cut off is invalid", async () => {
    const encoded = gzipSync(BODY);
    for (const broken of [BODY, encoded.subarray(0, -1), encoded.subarray(0, 5), Buffer.alloc(0)])
      await failsWith("invalid_payload", decodeBody(broken, "gzip", 1000));
    await failsWith("invalid_payload", decodeBody(BODY, "br", 1000));
    await failsWith("invalid_payload", decodeBody(BODY, "deflate", 1000));
  });

  test("may take the memory of one large body after another", async () => {
    const body = Buffer.alloc(20 * 1024 * 1024, "a");
    const encoded = gzipSync(body);
    for (let i = 0; i < 5; i++) assert.equal((await decodeBody(encoded, "gzip", body.length)).length, body.length);
  });
});
