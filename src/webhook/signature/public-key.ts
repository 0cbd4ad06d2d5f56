import { createHash, createPublicKey, type KeyObject, verify, X509Certificate } from "node:crypto";
import { isObject } from "../../lib/json.ts";
import type { FollowedDocument } from "../addresses/followed-documents.ts";
import { type BytesEncoding, keyTypesOf, type PublicKeyScheme } from "./schemes.ts";

/** A public key of a sender, and where it is set. One place may hold several keys. */
export interface PublicKey {
  /** E.g. `env:NAME`; for a key that is written in the file, `key:` and the beginning of its digest. */
  name: string;
  /** Changes when the keys do, see `markOf`. */
  mark: string;
  keys: readonly IdentifiedKey[];
  /** Where the keys are fetched from, if they are not set. `keys` are the last good ones. */
  set?: FollowedDocument;
}

export interface IdentifiedKey {
  key: KeyObject;
  /** The id that tokens name it by; null if it has none. */
  id: string | null;
  /** When the certificate of the key ends, in Unix milliseconds; null for other keys. */
  endsAt: number | null;
  /** The certificate that the key is from, if it is from one. */
  certificate?: X509Certificate;
}

// DER before the 32 bytes of a key (RFC 8410).
const ED25519_PREFIX = [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];
const ED25519_BYTES = 32;

/**
 * Reads public keys: PEM with keys or certificates, a JWK or several (RFC 7517), an Ed25519 key in hex, in base64 or
 * after `whpk_`, or base64 of DER. Returns null for anything else, also for a private key.
 */
export function readPublicKeys(text: string): IdentifiedKey[] | null {
  // In variables of containers, line ends are often written so.
  const trimmed = text.trim().replaceAll("\\n", "\n");
  try {
    if (trimmed.startsWith("-----BEGIN")) return keysOfPem(trimmed);
    if (/^[{[]/.test(trimmed)) return keysOfJson(JSON.parse(trimmed));
    const der = derOf(trimmed);
    return der === null ? null : [plain(createPublicKey({ key: der, format: "der", type: "spki" }))];
  } catch {
    return null;
  }
}

const plain = (key: KeyObject): IdentifiedKey => ({ key, id: null, endsAt: null });

/** Reads each block of a PEM text. Some senders show theirs without line ends. */
function keysOfPem(pem: string): IdentifiedKey[] | null {
  const blocks = [...pem.matchAll(/-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]+)-----END \1-----/g)];
  const keys = blocks.map(([, label = "", encoded = ""]) => keyOfBlock(label, Buffer.from(encoded, "base64")));
  return keys.length > 0 ? keys : null;
}

function keyOfBlock(label: string, der: Buffer): IdentifiedKey {
  switch (label) {
    case "CERTIFICATE": {
      const certificate = new X509Certificate(der);
      const { publicKey: key, validToDate } = certificate;
      return { key, id: null, endsAt: validToDate.getTime(), certificate };
    }
    case "PUBLIC KEY":
      return plain(createPublicKey({ key: der, format: "der", type: "spki" }));
    case "RSA PUBLIC KEY":
      return plain(createPublicKey({ key: der, format: "der", type: "pkcs1" }));
    default:
      throw new Error("no public key");
  }
}

/**
 * Reads a JWK, a list of them, or an object with `keys` or `key`. Left out are keys that the sender has expired, those
 * for encryption, and in a list those of an unknown type (RFC 7517, 5). Null if there are none, or too many.
 */
function keysOfJson(value: unknown): IdentifiedKey[] | null {
  const entries = Array.isArray(value) ? value : isObject(value) ? (value.keys ?? value.key ?? value) : null;
  const list = Array.isArray(entries) ? entries : [entries];
  if (list.length > MAX_KEYS) return null;
  const keys = list
    .filter((entry) => isObject(entry))
    // Plaid marks its old keys so.
    .filter((entry) => typeof entry.expired_at !== "number" && entry.use !== "enc")
    .flatMap((entry): IdentifiedKey[] => {
      if ("d" in entry || "k" in entry) throw new Error("a private key");
      const key = keyOfJwk(entry);
      return key === null ? [] : [{ key, id: typeof entry.kid === "string" ? entry.kid : null, endsAt: null }];
    });
  return keys.length > 0 ? keys : null;
}

// Reading one takes up to 0.1 ms, and a signature without the name of its key is compared with each.
const MAX_KEYS = 200;

function keyOfJwk(jwk: object): KeyObject | null {
  try {
    return createPublicKey({ key: jwk, format: "jwk" });
  } catch {
    return null;
  }
}

/** The DER of a key in hex or base64; a key of 32 bytes is of Ed25519. */
function derOf(text: string): Buffer | null {
  const encoded = text.replace(/^whpk_/, "");
  const isHex = /^(?:[0-9a-fA-F]{2})+$/.test(encoded);
  if (!isHex && !/^[A-Za-z0-9+/\s]+={0,2}$/.test(encoded)) return null;
  const bytes = Buffer.from(encoded, isHex ? "hex" : "base64");
  return bytes.length === ED25519_BYTES ? Buffer.from([...ED25519_PREFIX, ...bytes]) : bytes;
}

/** The name of a key that is not read from elsewhere. */
export function fingerprintOf({ key }: IdentifiedKey): string {
  const der = key.export({ format: "der", type: "spki" });
  return `key:${createHash("sha256").update(der).digest("hex").slice(0, 12)}`;
}

const ENCODED: Record<BytesEncoding, RegExp> = {
  hex: /^(?:[0-9a-fA-F]{2})+$/,
  base64: /^[A-Za-z0-9+/]+={0,2}$/,
  base64url: /^[A-Za-z0-9_-]+={0,2}$/,
};

// A signature of RSA with 8192 bits has 1024 bytes, which are 2048 characters of hex.
const MAX_SIGNATURE_LENGTH = 2048;

/** The bytes of a signature in each encoding that it may have; null if it has none of their forms. */
export function readSignatureBytes(text: string, encodings: readonly BytesEncoding[]): Buffer[] | null {
  if (text.length > MAX_SIGNATURE_LENGTH) return null;
  const readings = encodings.flatMap((encoding) => (ENCODED[encoding].test(text) ? [Buffer.from(text, encoding)] : []));
  return readings.length > 0 ? readings : null;
}

/** Whether a signature of a text is right for one of the keys. */
export function checkSignature(
  scheme: PublicKeyScheme,
  { keys }: PublicKey,
  text: Uint8Array,
  signature: Uint8Array,
): boolean {
  const { type, algorithm } = scheme;
  const [keyType] = keyTypesOf(scheme);
  return keys.some(({ key }) => {
    if (key.asymmetricKeyType !== keyType) return false;
    if (type !== "ecdsa") return verify(type === "ed25519" ? null : algorithm, text, key, signature);
    // Both numbers, each as long as the order of the curve; DER is longer.
    const isPlain = signature.length === 2 * (COORDINATE_BYTES[key.asymmetricKeyDetails?.namedCurve ?? ""] ?? 0);
    return verify(algorithm, text, { key, dsaEncoding: isPlain ? "ieee-p1363" : "der" }, signature);
  });
}

const COORDINATE_BYTES: Record<string, number> = { prime256v1: 32, secp256k1: 32, secp384r1: 48, secp521r1: 66 };
