import { isInQuery } from "../../src/webhook/content/body.ts";
import { FORM, openContent } from "../../src/webhook/content/content.ts";
import type { Provider } from "../../src/webhook/provider.ts";
import { providerOf } from "../../src/webhook/providers/index.ts";
import type { RefusalReason, Verified } from "../../src/webhook/signature/bound-scheme.ts";
import { type PublicKey, readPublicKeys } from "../../src/webhook/signature/public-key.ts";
import { markOf } from "../../src/webhook/signature/secret.ts";
import { createVerifier } from "../../src/webhook/signature/signature.ts";
import { payloadOfQuery } from "../../src/webhook/stages/stages.ts";
import { secretOf } from "./secret.ts";

/** A delivery that somebody else signed. */
export interface Vector {
  preset: string;
  secret?: string;
  /** Public keys of the sender, as the configuration file takes them. */
  keys?: readonly string[];
  options?: Readonly<Record<string, string>>;
  /** The address that it was sent to; null if the signature does not cover it. */
  url: string | null;
  method: string;
  headers: Record<string, string>;
  /** Base64. */
  body: string;
  /** When the signature is fresh, in Unix milliseconds; null if it has no time. */
  at: number | null;
}

export function providerNamed(name: string): Provider {
  const provider = providerOf(name);
  if (!provider) throw new Error(`there is no provider ${name}`);
  return provider;
}

function publicKeyOf(text: string): PublicKey {
  const keys = readPublicKeys(text);
  if (keys === null) throw new Error(`no public key: ${text}`);
  return { name: "env:KEY", mark: markOf(text), keys };
}

/** Verifies a delivery with a preset. Returns how it was signed, or why it is refused. */
export function verify(vector: Vector): Verified | RefusalReason {
  const { preset, secret, keys = [], options = {}, method, headers, at } = vector;
  const { schemes, contentTypes = ["application/json"] } = providerNamed(preset);
  const url = new URL(vector.url ?? "https://hooks.example.com/");
  const secrets = secret === undefined ? [] : [secretOf(secret)];
  const verifier = createVerifier({ schemes, secrets, keys: keys.map(publicKeyOf), options });
  const read = verifier.read(headers, at ?? Date.now());
  if ("reason" in read) return read.reason;
  // Published deliveries often leave the media type out.
  const contentType = headers["content-type"] ?? contentTypes[0] ?? "";
  // The text after the host, as it was sent: a URL object would change some of it.
  const target = (vector.url ?? "").slice(url.origin.length) || "/";
  const body = isInQuery(method) ? payloadOfQuery({ schemes }, target) : Buffer.from(vector.body, "base64");
  const content = openContent(body, isInQuery(method) ? FORM : contentType);
  return verifier.verify({ method, origin: url.origin, target, headers, content }, read.candidates);
}

/** Verifies a delivery with a preset. Returns `genuine`, or why it is refused. */
export function verdictOf(vector: Vector): string {
  const verified = verify(vector);
  return typeof verified === "string" ? verified : "genuine";
}
