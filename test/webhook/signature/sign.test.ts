import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { openContent } from "../../../src/webhook/content/content.ts";
import { allProviders } from "../../../src/webhook/providers/index.ts";
import { sampleOf } from "../../../src/webhook/samples/index.ts";
import type { PublicKey } from "../../../src/webhook/signature/public-key.ts";
import { needsOf, type Scheme } from "../../../src/webhook/signature/schemes.ts";
import type { Secret } from "../../../src/webhook/signature/secret.ts";
import { createVerifier } from "../../../src/webhook/signature/signature.ts";
import { secretOf } from "../../helpers/secret.ts";
import { fitted, KEYS, keyPairOf, OPTIONS, SECRET, signSample } from "../../helpers/signed-sample.ts";

const NOW = 1_800_000_000_000;
const OTHER_SECRET = SECRET.replace("00", "11");

/** Another secret, or public keys that are not those of the signature. */
const othersFor = (scheme: Scheme) => (needsOf(scheme) === "secrets" ? { secrets: [secretOf(OTHER_SECRET)] } : OTHERS);
const OTHERS = { keys: (["ed25519", "rsa", "ec"] as const).map((type) => keyPairOf(type)[1]) };

interface Changed {
  at?: number;
  secrets?: Secret[];
  keys?: PublicKey[];
}

/** Signs a sample of a preset with a scheme, and verifies it at a time. */
function verdict(slug: string | null, scheme: Scheme, { at = NOW, ...others }: Changed = {}): string {
  const only = "only" in scheme ? scheme.only : undefined;
  const plain = sampleOf(slug, { now: NOW, type: only && "values" in only ? only.values[0] : undefined });
  const sample = fitted(scheme, plain);
  const signed = signSample(scheme, sample, NOW);
  const verifier = createVerifier({
    schemes: [scheme],
    secrets: [secretOf(SECRET)],
    keys: KEYS,
    options: OPTIONS,
    ...others,
  });
  const read = verifier.read(signed.headers, at);
  if ("reason" in read) return read.reason;
  const content = openContent(signed.body, sample.contentType);
  const verified = verifier.verify({ ...signed, content }, read.candidates);
  return typeof verified === "string" ? verified : "genuine";
}

/** Whether a signature is too old after a day. A token that is made here ends after minutes. */
const hasTime = (scheme: Scheme) =>
  ["jwt", "httpsig"].includes(scheme.type) || ("timestamp" in scheme && scheme.timestamp !== undefined);

suite("a delivery that was signed as its sender does verifies", () => {
  for (const [slug, { schemes }] of allProviders()) {
    for (const [index, scheme] of schemes.entries()) {
      test(`${slug}, scheme ${index + 1}`, () => {
        assert.equal(verdict(slug, scheme), "genuine");
        assert.equal(verdict(slug, scheme, othersFor(scheme)), "signature_mismatch");
        const late = verdict(slug, scheme, { at: NOW + 30 * 86_400_000 });
        assert.equal(late, hasTime(scheme) ? "timestamp_too_old" : "genuine");
      });
    }
  }

  test("with a token", () => {
    const scheme: Scheme = { type: "token", header: "x-token", label: "Bearer " };
    assert.equal(verdict(null, scheme), "genuine");
    assert.equal(verdict(null, scheme, { secrets: [secretOf("other")] }), "signature_mismatch");
  });

  test("with Basic authentication", () => {
    assert.equal(verdict(null, { type: "basic" }), "genuine");
    assert.equal(verdict(null, { type: "basic" }, { secrets: [secretOf("user:other")] }), "signature_mismatch");
  });
});
