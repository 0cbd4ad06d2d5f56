import { createHash, hash } from "node:crypto";
import type { DigestName } from "./schemes.ts";

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
