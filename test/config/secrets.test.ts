import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { readSecretFile, weaknessOfTokenSecret } from "../../src/config/secrets.ts";
import { tempDir } from "../helpers/temp-dir.ts";

suite("the strength of a signing secret", () => {
  test("a random secret of 32 bytes is accepted", () => {
    assert.equal(weaknessOfTokenSecret(randomBytes(24).toString("base64")), null);
  });

  test("31 bytes are too short", () => {
    assert.match(weaknessOfTokenSecret(randomBytes(32).toString("base64").slice(0, 31)) ?? "", /shorter than 32 bytes/);
  });

  test("length counts in bytes, not in characters", () => {
    const text = "ñéüßøåçŁžšàñ日本語字";
    assert.ok(text.length < 32 && Buffer.byteLength(text) >= 32);
    assert.equal(weaknessOfTokenSecret(text), null);
  });

  test("a secret from a public list is refused", () => {
    assert.match(weaknessOfTokenSecret("your-256-bit-secret-your-256-bit-secret") ?? "", /repeats|publicly known/);
    for (const sample of [
      "a-string-secret-at-least-256-bits-long",
      "a-valid-string-secret-that-is-at-least-384-bits-long",
      "a-valid-string-secret-that-is-at-least-512-bits-long-which-is-very-long",
      "your-super-secret-jwt-key-change-this-in-production",
      "your_secret_key_change_this_in_production",
    ]) {
      assert.match(weaknessOfTokenSecret(sample) ?? "", /publicly known/, sample);
    }
  });

  for (const [what, secret] of [
    ["one byte", "a".repeat(64)],
    ["two letters", "ab".repeat(32)],
    ["a word", "correct-horse-".repeat(4)],
    ["a word, the last time cut short", "correct-horse-battery-".repeat(3).slice(0, 55)],
    ["one half", "0123456789abcdefghij".repeat(2)],
  ] as const) {
    test(`a secret that repeats ${what} is refused`, () => assert.notEqual(weaknessOfTokenSecret(secret), null));
  }

  test("a secret of fewer than 8 different characters is refused", () => {
    assert.match(weaknessOfTokenSecret("abcabbacbacbbcaabccbabacbcaabbcc") ?? "", /fewer than 8 different/);
  });

  test("the reason never contains the secret", () => {
    const secret = "hunter2-hunter2-";
    assert.ok(!weaknessOfTokenSecret(secret.repeat(4))?.includes("hunter2"));
  });
});

suite("a secret's file", () => {
  for (const [what, content] of [
    ["LF", "the secret\n"],
    ["CRLF", "the secret\r\n"],
    ["no line end", "the secret"],
  ] as const) {
    test(`with ${what} gives only the text`, (t) => {
      const file = join(tempDir(t), "secret");
      writeFileSync(file, content);
      assert.equal(readSecretFile(file), "the secret");
    });
  }

  test("keeps spaces and inner lines", (t) => {
    const file = join(tempDir(t), "secret");
    writeFileSync(file, " a\nb \n\n");
    assert.equal(readSecretFile(file), " a\nb \n");
  });
});
