import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { suite, test } from "node:test";
import { createPayloadCodec, encryptionKey, ROW, UnsealableError } from "../../src/storage/payload-codec.ts";
import { throwsCode } from "../helpers/fails-with.ts";

const codec = createPayloadCodec([encryptionKey(randomBytes(32))]);
const NAME = ROW.contents("shop", "evt_1");
const CONTENT = { text: '{"a":"b"}', bytes: Buffer.from("payload") };

suite("an encrypted row", () => {
  test("is opened as it was, and is other bytes each time", () => {
    const [one, other] = [codec.seal(NAME, CONTENT), codec.seal(NAME, CONTENT)];
    assert.notDeepEqual(one.bytes, other.bytes);
    for (const sealed of [one, other]) {
      const { text, bytes } = codec.open(NAME, sealed);
      assert.deepEqual([text, String(bytes)], [CONTENT.text, "payload"]);
    }
    assert.equal(codec.openText(NAME, codec.sealText(NAME, "é\0")), "é\0");
  });

  test("is not accepted with a changed byte, or in the place of another one", () => {
    const sealed = codec.seal(NAME, CONTENT);
    for (let at = 0; at < sealed.bytes.length; at++) {
      const bytes = Buffer.from(sealed.bytes);
      bytes[at] = (bytes[at] as number) ^ 1;
      assert.throws(() => codec.open(NAME, { ...sealed, bytes }), UnsealableError);
    }
    for (const other of [ROW.contents("shop", "evt_2"), ROW.contents("other", "evt_1"), ROW.conflict(1, "evt_1")])
      assert.throws(() => codec.open(other, sealed), UnsealableError);
    assert.throws(() => codec.open(NAME, { ...sealed, bytes: sealed.bytes.subarray(0, 20) }), UnsealableError);
  });

  test("needs its key", () => {
    const sealed = codec.seal(NAME, CONTENT);
    throwsCode("encryption_key_missing", () => createPayloadCodec([encryptionKey(randomBytes(32))]).open(NAME, sealed));
    throwsCode("encryption_key_missing", () => createPayloadCodec([]).open(NAME, sealed));
  });

  test("is none without a key, and a text that looks encrypted stays what it is", () => {
    const plain = createPayloadCodec([]);
    assert.equal(plain.seal(NAME, CONTENT), CONTENT);
    assert.equal(plain.sealText(NAME, "text"), "text");
    for (const text of ["sealed:", "sealed:plain:x", `sealed:${codec.keyId}:AAAA`])
      for (const by of [plain, codec]) assert.equal(codec.openText(NAME, by.sealText(NAME, text)), text);
  });
});
