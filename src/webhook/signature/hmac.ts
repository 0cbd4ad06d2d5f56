import { createHash, hash, timingSafeEqual } from "node:crypto";
import type { DigestEncoding, DigestName } from "./schemes.ts";

/** The size of the blocks and digests of each hash function in bytes. */
export const DIGESTS: Record<DigestName, { blockBytes: number; digestBytes: number }> = {
  md5: { blockBytes: 64, digestBytes: 16 },
  sha1: { blockBytes: 64, digestBytes: 20 },
  sha256: { blockBytes: 64, digestBytes: 32 },
  sha512: { blockBytes: 128, digestBytes: 64 },
};

// A larger message is not copied: it would be in memory twice, and the set-up of a hash object is small beside its
// hashing.
const MAX_COPIED_BYTES = 64 * 1024;

/** Computes a digest of a message, given in pieces, in hex. */
type Hmac = (...pieces: Uint8Array[]) => string;

/**
 * Creates the HMAC (RFC 2104) of a digest and a key. It uses two one-shot hashes: with Node's `createHmac`, which
 * creates several objects for each message, deliveries had 0.84 of the rate.
 */
export function createHmac(digest: DigestName, key: Uint8Array): Hmac {
  const { blockBytes, digestBytes } = DIGESTS[digest];
  const block = Buffer.alloc(blockBytes);
  block.set(key.length > blockBytes ? hash(digest, key, "buffer") : key);
  const inner = block.map((byte) => byte ^ 0x36);
  const outer = Buffer.alloc(blockBytes + digestBytes);
  outer.set(block.map((byte) => byte ^ 0x5c));
  return (...pieces) => {
    outer.write(hashOf(digest, [inner, ...pieces]), blockBytes, "latin1");
    return hash(digest, outer);
  };
}

/** Creates the hash of a key and the text behind it, for senders that have no HMAC. */
export function createPrefixHash(digest: DigestName, key: Uint8Array): Hmac {
  return (...pieces) => Buffer.from(hashOf(digest, [key, ...pieces]), "latin1").toString("hex");
}

/** Hashes the pieces. Each character of the result is one byte. */
function hashOf(digest: DigestName, pieces: readonly Uint8Array[]): string {
  let size = 0;
  for (const { length } of pieces) size += length;
  if (size > MAX_COPIED_BYTES) {
    const whole = createHash(digest);
    for (const piece of pieces) whole.update(piece);
    return whole.digest("latin1");
  }
  const message = Buffer.allocUnsafe(size);
  let at = 0;
  for (const piece of pieces) {
    message.set(piece, at);
    at += piece.length;
  }
  return hash(digest, message, "latin1");
}

/**
 * Compares a text with a digest, in constant time. The encoded texts are compared: decoding ignores invalid characters
 * and unused bits.
 */
export type IsDigest = (expectedHex: string) => boolean;

/**
 * Reads texts as digests of a hash function. Returns null for a text that has no form of one. Hex may be in any case.
 */
export function createDigestReader(
  digest: DigestName,
  encodings: readonly DigestEncoding[],
): (text: string) => IsDigest | null {
  const forms = encodings.flatMap((encoding) => FORMS[encoding](DIGESTS[digest].digestBytes));
  return (text) => {
    const form = forms.find(({ form }) => form.test(text));
    if (!form) return null;
    const normalized = form.normalized(text);
    return (expectedHex) => form.isSame(normalized, form.textOf(expectedHex));
  };
}

interface DigestForm {
  form: RegExp;
  /** Hex in lower case; other texts unchanged. */
  normalized(text: string): string;
  textOf(hex: string): string;
  isSame(text: string, expected: string): boolean;
}

const unchanged = (text: string) => text;

const FORMS: Record<DigestEncoding, (bytes: number) => DigestForm[]> = {
  hex: (bytes) => [
    {
      form: new RegExp(`^[0-9a-fA-F]{${2 * bytes}}$`),
      normalized: (text) => text.toLowerCase(),
      textOf: unchanged,
      isSame: createComparison(2 * bytes),
    },
  ],
  base64: (bytes) => [base64Form(bytes, "A-Za-z0-9+/", "base64", "=".repeat(paddingOf(bytes)))],
  "base64-hex": (bytes) => [
    { ...base64Form(2 * bytes, "A-Za-z0-9+/", "base64", "=".repeat(paddingOf(2 * bytes))), textOf: base64OfHex },
  ],
  // Some senders keep the padding.
  base64url: (bytes) =>
    ["", "=".repeat(paddingOf(bytes))].map((padding) => base64Form(bytes, "A-Za-z0-9_-", "base64url", padding)),
};

function base64Form(bytes: number, letters: string, encoding: "base64" | "base64url", padding: string): DigestForm {
  const length = Math.ceil((bytes * 4) / 3);
  return {
    form: new RegExp(`^[${letters}]{${length}}${padding}$`),
    normalized: unchanged,
    textOf: (hex) => Buffer.from(hex, "hex").toString(encoding).slice(0, length) + padding,
    isSame: createComparison(length + padding.length),
  };
}

/** The base64 of a digest in hex. */
export const base64OfHex = (hex: string) => Buffer.from(hex, "latin1").toString("base64");

function paddingOf(bytes: number): number {
  return (3 - (bytes % 3)) % 3;
}

/** Creates a constant-time comparison of ASCII texts of a fixed length. */
function createComparison(length: number): (text: string, expected: string) => boolean {
  const [given, wanted] = [Buffer.alloc(length), Buffer.alloc(length)];
  return (text, expected) => {
    given.write(text, "latin1");
    wanted.write(expected, "latin1");
    return timingSafeEqual(given, wanted);
  };
}
