/** A stored password hash, an argon2id PHC string or a bcrypt string, with its cost parameters. */
export type PasswordHash =
  | { algorithm: "argon2id"; encoded: string; memoryKib: number; passes: number; lanes: number; hashBytes: number }
  | { algorithm: "bcrypt"; encoded: string; cost: number };

// Limits for the cost of one login, so that a setting cannot exhaust the machine.
/** Largest memory of an argon2id hash. */
export const MAX_MEMORY_KIB = 256 * 1024;
/** Largest number of passes of an argon2id hash. */
export const MAX_PASSES = 10;
const MAX_LANES = 8;
// RFC 9106, 3.1.
const MIN_KIB_PER_LANE = 8;
// The lengths that tools produce. A hash of another length was probably cut when it was copied.
const HASH_BYTES = [16, 32, 48, 64];
const MIN_BCRYPT_COST = 4;
const MAX_BCRYPT_COST = 15;

const PHC =
  /^\$argon2id\$v=19\$m=(0|[1-9][0-9]{0,9}),t=(0|[1-9][0-9]{0,9}),p=(0|[1-9][0-9]{0,9})\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
// 128 bits of salt in 22 characters and 184 bits of hash in 31. The unused bits of each last character are zero.
const BCRYPT = /^\$2[aby]\$([0-9]{2})\$[./A-Za-z0-9]{21}[.Oeu][./A-Za-z0-9]{30}[.CGKOSWaeimquy26]$/;

/** Why a password hash is refused. It never contains the hash. */
export interface RefusedHash {
  reason: string;
  /** What to do, if that is not to make another hash. */
  remedy?: string;
}

const HOW_TO_QUOTE =
  "in a shell and in the .env of Docker Compose put the hash in single quotes, in compose.yaml write $$ for each $, or name a file with DEMO_PASSWORD_FILE";

/** Parses a password hash. Returns it, or why it is refused. */
export function parsePasswordHash(encoded: string): PasswordHash | RefusedHash {
  const parsed = parseIntact(encoded);
  return "algorithm" in parsed ? parsed : (changedOnItsWay(encoded) ?? parsed);
}

/** Recognizes a hash that a shell, Docker Compose or another reader of settings has changed. */
function changedOnItsWay(encoded: string): RefusedHash | null {
  const unquoted = encoded.replace(/^(["'])(.*)\1$/, "$2");
  const single = unquoted.replaceAll("$$", "$");
  const unescaped = single.replaceAll("\\$", "$");
  if ("algorithm" in parseIntact(unescaped)) {
    const found = [
      ...(unquoted === encoded ? [] : [QUOTES]),
      ...(single === unquoted ? [] : [DOUBLED]),
      ...(unescaped === single ? [] : [ESCAPED]),
    ];
    return {
      reason: found.map(({ reason }) => reason).join(", "),
      remedy: found.map(({ remedy }) => remedy).join("; "),
    };
  }
  if (PROCESS_NUMBERS.test(unquoted))
    return {
      reason: "has a number where the hash has $, as shells make it of $$",
      remedy: `write each $ once; ${HOW_TO_QUOTE}`,
    };
  const left = unquoted.replaceAll("\\", "");
  const isCut = LEFT_OF_ARGON2.test(left) || LEFT_OF_BCRYPT.test(left);
  return isCut ? { reason: "is a hash that lost the parts behind $", remedy: HOW_TO_QUOTE } : null;
}

const QUOTES = {
  reason: "has quotes around it",
  remedy: "remove the quotes: what reads this file takes them for a part of the value",
};
const DOUBLED = { reason: "has $$ where the hash has $", remedy: "write each $ once: only compose.yaml needs $$" };
const ESCAPED = { reason: "has a \\ before each $", remedy: `remove each \\; ${HOW_TO_QUOTE}` };

const PROCESS_NUMBERS = /^([0-9]+)(?:argon2id\1v=19\1m=|2[aby]\1[0-9]{2}\1)/;
// Shells and Docker Compose replace `$name` by a variable, which is empty here. A shell also replaces `$2` alone.
// Without quotes, Docker Compose leaves the \ of `\$name`.
const LEFT_OF_ARGON2 = /^(?!\$argon2id\$v=19\$m=)(?:\$?argon2id)?(?:\$v)?=19(?:\$m)?=[0-9]+,t=[0-9]+,p=[0-9]+/;
const LEFT_OF_BCRYPT = /^(?:[aby][0-9](?:[./A-Za-z0-9]{0,53})|\$2[aby](?:\$?[0-9]{2})?(?:[./][./A-Za-z0-9]{0,52})?)$/;

function parseIntact(encoded: string): PasswordHash | RefusedHash {
  const bcrypt = BCRYPT.exec(encoded);
  if (bcrypt) {
    const cost = Number(bcrypt[1]);
    if (cost < MIN_BCRYPT_COST || cost > MAX_BCRYPT_COST)
      return { reason: `has a bcrypt cost outside ${MIN_BCRYPT_COST} to ${MAX_BCRYPT_COST}` };
    return { algorithm: "bcrypt", encoded, cost };
  }
  if (/^\$argon2(?:d|i)\$/.test(encoded)) return { reason: "is argon2d or argon2i; only argon2id is accepted" };
  const phc = PHC.exec(encoded);
  if (!phc) return { reason: "is not an argon2id PHC string (v=19) or a bcrypt hash" };
  const [memoryKib = 0, passes = 0, lanes = 0] = phc.slice(1, 4).map(Number);
  const [saltBytes = 0, hashBytes = 0] = phc.slice(4).map(canonicalBase64Bytes);
  if (saltBytes < 8 || saltBytes > 64) return { reason: "has a salt outside 8 to 64 bytes" };
  if (!HASH_BYTES.includes(hashBytes))
    return { reason: `has a hash length other than ${HASH_BYTES.join(", ")} bytes and was probably cut` };
  if (lanes < 1 || lanes > MAX_LANES) return { reason: `has p outside 1 to ${MAX_LANES}` };
  if (passes < 1 || passes > MAX_PASSES) return { reason: `has t outside 1 to ${MAX_PASSES}` };
  if (memoryKib < MIN_KIB_PER_LANE * lanes || memoryKib > MAX_MEMORY_KIB)
    return { reason: `has m outside ${MIN_KIB_PER_LANE} KiB per lane to ${MAX_MEMORY_KIB / 1024} MiB` };
  return { algorithm: "argon2id", encoded, memoryKib, passes, lanes, hashBytes };
}

/** The number of bytes that an unpadded base64 text encodes; 0 when it is not canonical. */
function canonicalBase64Bytes(text: string): number {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64").replace(/=+$/, "") === text ? bytes.length : 0;
}
