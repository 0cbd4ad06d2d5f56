import { randomBytes } from "node:crypto";
import * as argon2 from "@node-rs/argon2";
import * as bcrypt from "@node-rs/bcrypt";
import type { PasswordHash } from "../password-hash.ts";

/** OWASP's first recommendation for argon2id with 19 MiB. */
const ARGON2ID = { algorithm: argon2.Algorithm.Argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 };

// bcrypt reads no further than this; a longer password would match another that shares its beginning.
const BCRYPT_MAX_BYTES = 72;

/** The form in which passwords are hashed and compared. Nothing is trimmed or cut. */
export function canonicalPassword(password: string): string {
  return password.normalize("NFC");
}

/** Hashes a password for `DEMO_PASSWORD`: an argon2id PHC string. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(canonicalPassword(password), ARGON2ID);
}

/** Verifies against the user's hash, or, for an unknown user, does the same work and says no. */
export type PasswordVerifier = (password: string, userIsKnown: boolean) => Promise<boolean>;

/** Creates the verifier of the configured user, with a dummy hash of the same cost for everybody else. */
export async function createPasswordVerifier(stored: PasswordHash): Promise<PasswordVerifier> {
  const dummy = await dummyLike(stored);
  return async (password, userIsKnown) => {
    const canonical = canonicalPassword(password);
    if (stored.algorithm === "argon2id") {
      return (await argon2.verify(userIsKnown ? stored.encoded : dummy, canonical)) && userIsKnown;
    }
    const fits = Buffer.byteLength(canonical) <= BCRYPT_MAX_BYTES && !canonical.includes("\0");
    const usable = userIsKnown && fits;
    return (await bcrypt.verify(fits ? canonical : "-", usable ? stored.encoded : dummy)) && usable;
  };
}

function dummyLike(stored: PasswordHash): Promise<string> {
  const password = randomBytes(24).toString("base64");
  if (stored.algorithm === "bcrypt") return bcrypt.hash(password, stored.cost);
  return argon2.hash(password, {
    algorithm: argon2.Algorithm.Argon2id,
    memoryCost: stored.memoryKib,
    timeCost: stored.passes,
    parallelism: stored.lanes,
    outputLen: stored.hashBytes,
  });
}
