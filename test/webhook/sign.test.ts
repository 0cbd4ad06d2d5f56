import assert from "node:assert/strict";
import { generateKeyPairSync, hash } from "node:crypto";
import { suite, test } from "node:test";
import { FORM, openContent } from "../../src/webhook/content.ts";
import { allProviders } from "../../src/webhook/providers/index.ts";
import type { PublicKey } from "../../src/webhook/public-key.ts";
import { sampleOf } from "../../src/webhook/samples/index.ts";
import { keyTypesOf, needsOf, type Scheme } from "../../src/webhook/schemes.ts";
import { signDelivery } from "../../src/webhook/sign.ts";
import { createVerifier } from "../../src/webhook/signature.ts";
import type { Secret } from "../../src/webhook/source.ts";
import { secretOf } from "../helpers/secret.ts";

const NOW = 1_800_000_000_000;
// Text, hex and base64 at once.
const SECRET = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
const OTHER_SECRET = SECRET.replace("00", "11");

const pairOf = (type: "ed25519" | "rsa" | "ec"): [privateKey: string, publicKey: PublicKey] => {
  const options = { modulusLength: 2048, namedCurve: "P-256" };
  const { privateKey, publicKey } = generateKeyPairSync(type as "rsa", options);
  const key = { key: publicKey, id: null, endsAt: null };
  return [privateKey.export({ format: "pem", type: "pkcs8" }).toString(), { name: type, mark: "", keys: [key] }];
};
const PAIRS = { ed25519: pairOf("ed25519"), rsa: pairOf("rsa"), ec: pairOf("ec") };
const KEYS = Object.values(PAIRS).map(([, key]) => key);

/** The secret or private key that a scheme is signed with. */
function secretFor(scheme: Scheme): string {
  if (needsOf(scheme) === "secrets") return SECRET;
  return PAIRS[keyTypesOf(scheme)[0] as keyof typeof PAIRS][0];
}

/** Another secret, or public keys that are not those of the signature. */
const othersFor = (scheme: Scheme) => (needsOf(scheme) === "secrets" ? { secrets: [secretOf(OTHER_SECRET)] } : OTHERS);
const OTHERS = { keys: (["ed25519", "rsa", "ec"] as const).map((type) => pairOf(type)[1]) };

interface Changed {
  at?: number;
  secrets?: Secret[];
  keys?: PublicKey[];
}

/** Signs a sample of a preset with a scheme, and verifies it at a time. */
function verdict(slug: string | null, scheme: Scheme, { at = NOW, ...others }: Changed = {}): string {
  const only = "only" in scheme ? scheme.only : undefined;
  const plain = sampleOf(slug, { now: NOW, type: only && "values" in only ? only.values[0] : undefined });
  const isPayloadOfForm = "signed" in scheme && scheme.signed === "{form:payload}";
  const sample = isPayloadOfForm
    ? { ...plain, contentType: FORM, body: String(new URLSearchParams({ payload: plain.body })) }
    : plain;
  const bodyHash = "bodyHash" in scheme ? { bodySHA256: hash("sha256", sample.body) } : {};
  const query = new URLSearchParams({ "data.id": "77A", ...bodyHash, code: SECRET });
  const unsigned = {
    method: "POST",
    origin: "https://hooks.example.com",
    target: `/webhook/sender?${query}`,
    headers: sample.headers,
    mediaType: sample.contentType,
    body: Buffer.from(sample.body),
  };
  const options = { webhookId: "4JH86294D6297924G" };
  const { headers, body } = signDelivery(scheme, secretFor(scheme), unsigned, NOW, options);
  const verifier = createVerifier({ schemes: [scheme], secrets: [secretOf(SECRET)], keys: KEYS, options, ...others });
  const read = verifier.read(headers, at);
  if ("reason" in read) return read.reason;
  const content = openContent(body, sample.contentType);
  const verified = verifier.verify({ ...unsigned, headers, content }, read.candidates);
  return typeof verified === "string" ? verified : "genuine";
}

/** Whether a signature is too old after a day. A token that is made here ends after minutes. */
const hasTime = (scheme: Scheme) => scheme.type === "jwt" || ("timestamp" in scheme && scheme.timestamp !== undefined);

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
