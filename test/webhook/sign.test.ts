import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openContent } from "../../src/webhook/content.ts";
import { PRESETS } from "../../src/webhook/presets/index.ts";
import { sampleOf } from "../../src/webhook/samples/index.ts";
import type { Scheme } from "../../src/webhook/schemes.ts";
import { signDelivery } from "../../src/webhook/sign.ts";
import { createVerifier } from "../../src/webhook/signature.ts";

const NOW = 1_800_000_000_000;
// Text, hex and base64 at once.
const SECRET = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/** Signs a sample of a preset with a scheme, and verifies it at a time. */
function verdict(slug: string | null, scheme: Scheme, { secret = SECRET, at = NOW } = {}): string {
  const sample = sampleOf(slug, { now: NOW });
  const unsigned = {
    method: "POST",
    origin: "https://hooks.example.com",
    target: "/webhook/sender?data.id=77A",
    headers: sample.headers,
    mediaType: sample.contentType,
    body: Buffer.from(sample.body),
  };
  const { headers, body } = signDelivery(scheme, secret, unsigned, NOW);
  const verifier = createVerifier({ schemes: [scheme], secrets: [{ name: "env:SECRET", value: SECRET }] });
  const read = verifier.read(headers, at);
  if ("reason" in read) return read.reason;
  const content = openContent(body, sample.contentType);
  const verified = verifier.verify({ ...unsigned, headers, content }, read.candidates);
  return typeof verified === "string" ? verified : "genuine";
}

suite("a delivery that was signed as its sender does verifies", () => {
  for (const [slug, { schemes }] of Object.entries(PRESETS)) {
    for (const [index, scheme] of schemes.entries()) {
      test(`${slug}, scheme ${index + 1}`, () => {
        assert.equal(verdict(slug, scheme), "genuine");
        assert.equal(verdict(slug, scheme, { secret: SECRET.replace("00", "11") }), "signature_mismatch");
        const late = verdict(slug, scheme, { at: NOW + 86_400_000 });
        assert.equal(late, scheme.type === "hmac" && scheme.timestamp ? "timestamp_too_old" : "genuine");
      });
    }
  }

  test("with a token", () => {
    const scheme: Scheme = { type: "token", header: "x-token", label: "Bearer " };
    assert.equal(verdict(null, scheme), "genuine");
    assert.equal(verdict(null, scheme, { secret: "other" }), "signature_mismatch");
  });

  test("with Basic authentication", () => {
    assert.equal(verdict(null, { type: "basic" }), "genuine");
    assert.equal(verdict(null, { type: "basic" }, { secret: "user:other" }), "signature_mismatch");
  });
});
