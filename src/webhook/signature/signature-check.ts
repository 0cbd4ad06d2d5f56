import { createDigestReader, createHmac, createPrefixHash, type IsDigest } from "./hmac.ts";
import { checkSignature, type PublicKey, readSignatureBytes } from "./public-key.ts";
import type { HmacScheme, PublicKeyScheme, SignedScheme } from "./schemes.ts";
import { type Credential, keysOf, type Secret } from "./secret.ts";

/** Finds the secret or public key of a source that a signature is right for. */
interface SignatureCheck<Signature> {
  /** Null if the text has no form of a signature. */
  read(text: string): Signature | null;
  /** The credential that one of the signatures of a text, given in pieces, is right for. */
  find(signatures: readonly Signature[], pieces: readonly Uint8Array[]): Credential | undefined;
}

/** The secrets and public keys that a sender may sign with, the newest first. Undefined: no keys. */
export interface Credentials {
  secrets: readonly Secret[];
  keys?: readonly PublicKey[];
}

/** Creates the check of a scheme. */
export function createSignatureCheck(
  scheme: SignedScheme,
  { secrets, keys = [] }: Credentials,
): SignatureCheck<unknown> {
  return scheme.type === "hmac" ? createHmacCheck(scheme, secrets) : createPublicKeyCheck(scheme, keys);
}

function createHmacCheck(scheme: HmacScheme, secrets: readonly Secret[]): SignatureCheck<IsDigest> {
  const create = scheme.isPrefixHash ? createPrefixHash : createHmac;
  /** One for each key of each secret. */
  const known = secrets.flatMap((secret) =>
    keysOf(scheme.key, secret.value).map((key) => ({ digestOf: create(scheme.algorithm, key), secret })),
  );
  return {
    read: createDigestReader(scheme.algorithm, scheme.encodings),
    find(signatures, pieces) {
      let found: Credential | undefined;
      // All are compared, so that the time does not reveal a match.
      for (const { digestOf, secret } of known) {
        const expected = digestOf(...pieces);
        const isRight = signatures.reduce((right, isDigest) => isDigest(expected) || right, false);
        if (isRight) found ??= secret;
      }
      return found;
    },
  };
}

// Each costs a digest of the body for each key. A sender that changes its key has two.
const MAX_SIGNATURES = 4;

function createPublicKeyCheck(scheme: PublicKeyScheme, keys: readonly PublicKey[]): SignatureCheck<readonly Buffer[]> {
  return {
    read: (text) => readSignatureBytes(text, scheme.encodings),
    find(signatures, pieces) {
      const text = Buffer.concat(pieces);
      const isRight = (key: PublicKey) =>
        signatures
          .slice(0, MAX_SIGNATURES)
          .some((readings) => readings.some((bytes) => checkSignature(scheme, key, text, bytes)));
      return keys.find(isRight);
    },
  };
}
