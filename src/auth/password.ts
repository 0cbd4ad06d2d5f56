import { randomBytes } from "node:crypto";
import * as argon2 from "@node-rs/argon2";
import { MAX_MEMORY_KIB, MAX_PASSES, type PasswordHash } from "./password-hash.ts";

/** The cost of an argon2id hash in one lane. */
export interface HashCost {
  memoryKib: number;
  passes: number;
}

/** OWASP's recommendation for argon2id in one lane, and the lowest cost that `calibrate` returns. */
const DEFAULT_COST: HashCost = { memoryKib: 19_456, passes: 2 };
// `DEMO_PASSWORD` accepts no higher cost.
const MAX_COST: HashCost = { memoryKib: MAX_MEMORY_KIB, passes: MAX_PASSES };
const MEMORY_STEP = 1.25;
const CALIBRATION_RUNS = 3;

// bcrypt ignores the bytes after these: longer passwords with the same beginning would match each other.
const BCRYPT_MAX_BYTES = 72;

/** Returns why no password of this length can match a hash, and what to do; null if one can. */
export function faultOfLength({ algorithm }: PasswordHash, password: string): string | null {
  if (algorithm !== "bcrypt" || fitsBcrypt(canonicalPassword(password))) return null;
  return "DEMO_PASSWORD is a bcrypt hash, and the password has more than 72 bytes, which bcrypt cuts off; make an argon2id hash with authserve hash-password";
}

const fitsBcrypt = (canonical: string) => Buffer.byteLength(canonical) <= BCRYPT_MAX_BYTES;

/** Hashes a password for `DEMO_PASSWORD`: an argon2id PHC string. */
export function hashPassword(password: string, { memoryKib, passes }: HashCost = DEFAULT_COST): Promise<string> {
  return argon2.hash(canonicalPassword(password), {
    algorithm: argon2.Algorithm.Argon2id,
    memoryCost: memoryKib,
    timeCost: passes,
    parallelism: 1,
  });
}

/**
 * Finds the highest cost that this machine computes within a time. It raises the memory first, which costs a guesser
 * most, and then the passes. If even the default cost takes longer, it returns that.
 */
export async function calibrate(
  targetMs: number,
  measure: (cost: HashCost) => Promise<number> = timeOf,
): Promise<{ cost: HashCost; tookMs: number }> {
  let best = { cost: DEFAULT_COST, tookMs: await measure(DEFAULT_COST) };
  const isFull = ({ memoryKib }: HashCost) => memoryKib === MAX_COST.memoryKib;
  for (;;) {
    const { memoryKib, passes } = best.cost;
    if (isFull(best.cost) && passes === MAX_COST.passes) return best;
    const cost = isFull(best.cost)
      ? { memoryKib, passes: passes + 1 }
      : { memoryKib: Math.min(Math.round(memoryKib * MEMORY_STEP), MAX_COST.memoryKib), passes };
    const tookMs = await measure(cost);
    if (tookMs > targetMs) return best;
    best = { cost, tookMs };
  }
}

/** Times a hash: the shortest of a few runs, because other load can only make a run longer. */
async function timeOf(cost: HashCost): Promise<number> {
  let shortest = Number.POSITIVE_INFINITY;
  for (let run = 0; run < CALIBRATION_RUNS; run++) {
    const startedAt = performance.now();
    await hashPassword("calibration", cost);
    shortest = Math.min(shortest, performance.now() - startedAt);
  }
  return shortest;
}

/** Whether a password is that of a hash. */
export async function verifyHash(stored: PasswordHash, password: string): Promise<boolean> {
  const canonical = canonicalPassword(password);
  if (stored.algorithm === "argon2id") return argon2.verify(stored.encoded, canonical);
  const fits = fitsBcrypt(canonical) && !canonical.includes("\0");
  return (await (await loadBcrypt()).verify(fits ? canonical : "-", stored.encoded)) && fits;
}

/** Makes a hash that takes as much work as another one, and that no password has. */
export async function decoyOf(stored: PasswordHash): Promise<PasswordHash> {
  const password = randomBytes(24).toString("base64");
  if (stored.algorithm === "bcrypt")
    return { ...stored, encoded: await (await loadBcrypt()).hash(password, stored.cost) };
  const encoded = await argon2.hash(password, {
    algorithm: argon2.Algorithm.Argon2id,
    memoryCost: stored.memoryKib,
    timeCost: stored.passes,
    parallelism: stored.lanes,
    outputLen: stored.hashBytes,
  });
  return { ...stored, encoded };
}

// Loaded only when it is needed, because its add-on takes memory.
const loadBcrypt = () => import("./bcrypt.ts");

/** Fewest characters of a password. */
export const PASSWORD_MIN_CHARACTERS = 6;

/** Most characters of a password. It limits the work of a hash. */
const PASSWORD_MAX_CHARACTERS = 1024;

/** Returns the form in which passwords are hashed, counted and compared: Unicode NFC. Nothing is trimmed or cut. */
export function canonicalPassword(password: string): string {
  return password.normalize("NFC");
}

// A canonical character takes at most four UTF-16 units in the text as sent.
const MAX_UNITS = 4 * PASSWORD_MAX_CHARACTERS;

// Normalization takes time with the square of a run of combining marks. No language has more than a few in a row.
const MARKS_MAX = 64;
const TOO_MANY_MARKS = new RegExp(`\\p{M}{${MARKS_MAX + 1}}`, "u");

/** Returns why a password is refused, or null. Cheap checks come before the canonical form is computed. */
export function passwordFault(password: string): string | null {
  if (!password.isWellFormed()) return "must be well-formed Unicode";
  const tooLong = `must have at most ${PASSWORD_MAX_CHARACTERS} characters`;
  if (password.length > MAX_UNITS) return tooLong;
  const tooManyMarks = `must have at most ${MARKS_MAX} combining marks in a row`;
  if (TOO_MANY_MARKS.test(password)) return tooManyMarks;
  const canonical = canonicalPassword(password);
  // NFC can turn one mark into two.
  if (TOO_MANY_MARKS.test(canonical)) return tooManyMarks;
  const count = [...canonical].length;
  if (count < PASSWORD_MIN_CHARACTERS) return `must have at least ${PASSWORD_MIN_CHARACTERS} characters`;
  return count > PASSWORD_MAX_CHARACTERS ? tooLong : null;
}

/** Counts the characters of a password in its canonical form: code points, not bytes or UTF-16 units. */
export function characterCount(password: string): number {
  return [...canonicalPassword(password)].length;
}
