import { generateKeyPairSync, hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { FORM } from "../../src/webhook/content/content.ts";
import type { Sample } from "../../src/webhook/samples/index.ts";
import { type PublicKey, readPublicKeys } from "../../src/webhook/signature/public-key.ts";
import { keyTypesOf, needsOf, type Scheme } from "../../src/webhook/signature/schemes.ts";
import { addressWithSecret, signDelivery, type UnsignedDelivery } from "../../src/webhook/signature/sign.ts";

/** Text, hex and base64 at once. */
export const SECRET = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/** What providers need besides. */
export const OPTIONS = {
  webhookId: "4JH86294D6297924G",
  email: "push@example.iam.gserviceaccount.com",
  audience: "{url}",
  bundleId: "com.example.app",
  issuer: "https://issuer.example",
  audiences: "web-client app-client",
};

export function keyPairOf(
  type: "ed25519" | "rsa" | "ec",
  namedCurve = "P-256",
): [privateKey: string, publicKey: PublicKey] {
  const options = { modulusLength: 2048, namedCurve };
  const { privateKey, publicKey } = generateKeyPairSync(type as "rsa", options);
  const key = { key: publicKey, id: null, endsAt: null };
  return [privateKey.export({ format: "pem", type: "pkcs8" }).toString(), { name: type, mark: "", keys: [key] }];
}

const PAIRS = {
  ed25519: keyPairOf("ed25519"),
  rsa: keyPairOf("rsa"),
  ec: keyPairOf("ec"),
  "P-521": keyPairOf("ec", "P-521"),
};

const fixture = (name: string) => readFileSync(join(import.meta.dirname, "../fixtures", name), "utf8");

/** A private key that was made for the tests, with certificates such as Apple's, and their root. */
const CHAIN = fixture("chain.pem");
const ROOT: PublicKey = { name: "root", mark: "", keys: readPublicKeys(fixture("chain-root.crt")) ?? [] };

/** The public keys that samples are signed for. */
export const KEYS = [...Object.values(PAIRS).map(([, key]) => key), ROOT];

/** The secret or private key that a scheme is signed with. */
function secretFor(scheme: Scheme): string {
  if (needsOf(scheme) === "secrets") return SECRET;
  if (scheme.type === "jws" && !scheme.isKeyed) return CHAIN;
  if ("algorithms" in scheme && scheme.algorithms[0] === "ES512") return PAIRS["P-521"][0];
  return PAIRS[keyTypesOf(scheme)[0] as keyof typeof PAIRS][0];
}

/** A sample as a scheme needs it: in a form where it signs a field of one, with what it signs at the top. */
export function fitted(scheme: Scheme, sample: Sample): Sample {
  const signed = "signed" in scheme ? scheme.signed : "";
  // The fields of a route of Mailgun are those that its events have in `signature`.
  if (signed === "{timestamp}{json:token}") {
    return { ...sample, body: JSON.stringify(JSON.parse(sample.body).signature) };
  }
  // The claims themselves, where they are no member of the body.
  if (scheme.type === "jws" && scheme.json === undefined)
    return { ...sample, body: JSON.stringify(JSON.parse(sample.body).payload) };
  const only = "only" in scheme ? scheme.only : undefined;
  // A subscription of Amazon SNS has members that its other messages have not.
  if (only && "member" in only) {
    const members = { Token: "token", SubscribeURL: "https://sns.example", [only.member]: only.values[0] };
    return { ...sample, body: JSON.stringify({ ...JSON.parse(sample.body), ...members }) };
  }
  const isPayloadOfForm = signed === "{form:payload}";
  if (!isPayloadOfForm || sample.contentType === FORM) return sample;
  return { ...sample, contentType: FORM, body: String(new URLSearchParams({ payload: sample.body })) };
}

/** Signs a sample as its sender does, at a time. */
export function signSample(
  scheme: Scheme,
  sample: Sample,
  now: number,
): UnsignedDelivery & { headers: Record<string, string> } {
  const bodyHash = "bodyHash" in scheme ? { bodySHA256: hash("sha256", sample.body) } : {};
  const query = new URLSearchParams({ "data.id": "77A", ...bodyHash });
  const origin = "https://hooks.example.com";
  const address = addressWithSecret(scheme, secretFor(scheme), `${origin}/webhook/sender?${query}`);
  const unsigned = {
    method: "POST",
    origin,
    target: address.slice(origin.length),
    headers: sample.headers,
    mediaType: sample.contentType,
    body: Buffer.from(sample.body),
  };
  return { ...unsigned, ...signDelivery(scheme, secretFor(scheme), unsigned, now, OPTIONS) };
}
