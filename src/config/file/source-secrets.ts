import { DEFAULT_SOURCE_NAME } from "../../webhook/default-source.ts";
import { handshakeOf } from "../../webhook/handshakes/kinds.ts";
import { type HmacScheme, needsOf, type Scheme } from "../../webhook/signature/schemes.ts";
import { keysOf, type Secret } from "../../webhook/signature/secret.ts";
import type { Source } from "../../webhook/source.ts";
import type { Reading } from "./reading.ts";
import { readSecretRef, warnOfWeakness } from "./secrets.ts";

/** Reads the secrets of a source that has these schemes. */
export function readSecrets(references: readonly string[], schemes: readonly Scheme[], reading: Reading): Secret[] {
  const secrets: Secret[] = [];
  for (const [index, reference] of references.entries()) {
    const place = reading.at(index);
    const secret = readSecretRef(reference, place);
    const fault = secret && formFault(secret, schemes);
    if (fault) place.fault(fault);
    if (secret === null || fault !== null) continue;
    warnOfWeakness(secret, place);
    if (secrets.some(({ value }) => value === secret.value))
      place.fault("found the same secret twice, expected different ones");
    secrets.push(secret);
  }
  return secrets;
}

/** What is wrong about the form of a secret; null if it fits one of the schemes. */
function formFault({ name, value }: Secret, schemes: readonly Scheme[]): string | null {
  // Everybody has the public key, and could sign with it as a secret.
  if (/^wh[ps]k_|^-----BEGIN |^\{.*"kty"/s.test(value))
    return `found ${name}, whose value is a key, expected a secret: public keys belong to keys`;
  const usual = schemes.filter((scheme) => needsOf(scheme) === "secrets");
  if (usual.length === 0 || usual.some((scheme) => fits(scheme, value))) return null;
  const forms = usual.map((scheme) => (scheme.type === "hmac" ? FORMS[scheme.key] : "user:password"));
  return `found ${name}, whose value does not have the form, expected ${[...new Set(forms)].join(" or ")}`;
}

function fits(scheme: Scheme, value: string): boolean {
  if (scheme.type === "hmac") return keysOf(scheme.key, value).length > 0;
  return scheme.type !== "basic" || value.includes(":");
}

const FORMS: Record<HmacScheme["key"], string> = {
  utf8: "text",
  sha1: "text",
  hex: "hex",
  base64: "base64",
  whsec: "base64, or whsec_ and base64",
};

type Owner = Pick<Source, "name" | "handshake">;

/**
 * Checks the secrets of several sources. A handshake that signs what anybody sends would sign for the other source.
 * Else who has the secret of one source can sign for the other, which is a warning.
 */
export function checkSharedSecrets(sources: readonly Source[], reading: Reading): void {
  const owners = new Map<string, Owner>(
    reading.context.defaultSecrets.map((value) => [value, { name: DEFAULT_SOURCE_NAME }]),
  );
  for (const source of sources) {
    for (const [index, { name, value }] of source.secrets.entries()) {
      const other = owners.get(value);
      const place = reading.at(source.name, "secrets", index);
      const signer = other && signerOf(source, other);
      if (other === undefined) owners.set(value, source);
      else if (signer === undefined)
        place.warn(`${name} is also a secret of ${other.name}: use another one for each source`);
      else
        place.fault(
          `found a secret of ${other.name}, expected another one: the handshake of ${signer.name} signs what anybody sends`,
        );
    }
  }
  for (const { name, handshake } of sources) {
    const expected = handshakeOf(handshake)?.publicToken;
    if (expected !== undefined && handshake?.token && owners.has(handshake.token.value))
      reading.at(name, "handshake", "token").fault(`found a secret, expected ${expected}: anybody can ask for it`);
  }
}

/**
 * The one of two sources whose handshake could sign for the other. One with the same handshake refuses what it signs.
 */
function signerOf(one: Owner, other: Owner): Owner | undefined {
  if (one.handshake?.kind === other.handshake?.kind) return undefined;
  return [one, other].find(({ handshake }) => handshakeOf(handshake)?.signs?.forAnybody);
}
