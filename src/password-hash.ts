/** A stored password hash: an argon2id PHC string or a bcrypt string, with what is needed to make another of equal cost. */
export type PasswordHash =
  | { algorithm: "argon2id"; encoded: string; memoryKib: number; passes: number; lanes: number; hashBytes: number }
  | { algorithm: "bcrypt"; encoded: string; cost: number };

// What one login may cost: a hash above these would let a setting take the machine down.
const MAX_MEMORY_KIB = 256 * 1024;
const MAX_PASSES = 10;
const MAX_LANES = 8;
const MIN_BCRYPT_COST = 4;
const MAX_BCRYPT_COST = 15;

const PHC =
  /^\$argon2id\$v=19\$m=(0|[1-9][0-9]{0,9}),t=(0|[1-9][0-9]{0,9}),p=(0|[1-9][0-9]{0,9})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
// 128 bits of salt in 22 characters and 184 of hash in 31: the last character of each has bits to spare, which are zero.
const BCRYPT = /^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

/** Reads a password hash. Returns it, or the reason it cannot be used (never the hash itself). */
export function parsePasswordHash(encoded: string): PasswordHash | { reason: string } {
  const bcrypt = BCRYPT.exec(encoded);
  if (bcrypt) {
    const cost = Number(bcrypt[1]);
    if (cost < MIN_BCRYPT_COST || cost > MAX_BCRYPT_COST) return { reason: "has a bcrypt cost outside 4 to 15" };
    return { algorithm: "bcrypt", encoded, cost };
  }
  if (/^\$argon2(?:d|i)\$/.test(encoded)) return { reason: "is argon2d or argon2i, and only argon2id is accepted" };
  const phc = PHC.exec(encoded);
  if (!phc) return { reason: "is not an argon2id PHC string (v=19) or a bcrypt hash" };
  const [memoryKib = 0, passes = 0, lanes = 0] = phc.slice(1, 4).map(Number);
  const [saltBytes = 0, hashBytes = 0] = phc.slice(4).map(canonicalBase64Bytes);
  if (saltBytes < 8 || saltBytes > 64 || hashBytes < 16 || hashBytes > 64) {
    return { reason: "has a salt or a hash of a wrong length" };
  }
  if (lanes < 1 || lanes > MAX_LANES) return { reason: "has p outside 1 to 8" };
  if (passes < 1 || passes > MAX_PASSES) return { reason: "has t outside 1 to 10" };
  if (memoryKib < 8 * lanes || memoryKib > MAX_MEMORY_KIB) return { reason: "has m outside 8 KiB per lane to 256 MiB" };
  return { algorithm: "argon2id", encoded, memoryKib, passes, lanes, hashBytes };
}

/** Bytes that an unpadded base64 text stands for; 0 when it is not in canonical form. */
function canonicalBase64Bytes(text: string): number {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === text ? bytes.length : 0;
}
