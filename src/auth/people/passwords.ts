import { createHmac } from "node:crypto";
import { decoyOf, hashPassword, verifyHash } from "../password.ts";
import { type PasswordHash, parsePasswordHash } from "../password-hash.ts";
import type { People, Person } from "./people.ts";
import type { PersonStore } from "./store.ts";

/** Verifies the password that came with an e-mail in canonical form. For nobody it does the same work, and is false. */
export type PasswordVerifier = (password: string, email: string, person: Person | null) => Promise<boolean>;

interface PasswordParts {
  people: Pick<People, "list" | "areNamed">;
  store: Pick<PersonStore, "passwordHash">;
  /** Decides how much work an unknown e-mail takes. */
  secret: string;
}

/**
 * Creates the check of passwords. An e-mail of nobody, or of a person without a password, takes as much work as that of
 * somebody: each address always the same, so that the time tells nothing.
 */
export async function createPasswordVerifier({ people, store, secret }: PasswordParts): Promise<PasswordVerifier> {
  const decoys = new Map<string, Promise<PasswordHash>>();
  function decoyLike(hash: PasswordHash): Promise<PasswordHash> {
    const { encoded: _encoded, ...cost } = hash;
    const key = JSON.stringify(cost);
    const known = decoys.get(key) ?? decoyOf(hash);
    decoys.set(key, known);
    return known;
  }

  /** A hash of each cost that somebody's password may have. */
  async function costs(): Promise<PasswordHash[]> {
    const configured = people.list().flatMap(({ passwordHash }) => passwordHash ?? []);
    return people.areNamed() ? [...configured, await chosenCost()] : configured;
  }

  async function decoyFor(email: string): Promise<PasswordHash> {
    const known = await costs();
    const number = createHmac("sha256", secret).update(`decoy ${email}`).digest().readUInt32BE();
    return decoyLike(known[number % known.length] as PasswordHash);
  }

  /** The hash of a person's password. With several people the store is asked for whatever e-mail. */
  async function hashOf(person: Person | null): Promise<PasswordHash | null> {
    const stored = people.areNamed() ? await store.passwordHash(person?.account ?? "") : null;
    return person?.passwordHash ?? (stored === null ? null : readHash(stored));
  }

  for (const hash of await costs()) await decoyLike(hash);
  return async (password, email, person) => {
    const own = await hashOf(person);
    return (await verifyHash(own ?? (await decoyFor(email)), password)) && own !== null;
  };
}

/** Reads the hash of a password that a person has chosen. */
function readHash(encoded: string): PasswordHash | null {
  const hash = parsePasswordHash(encoded);
  return "algorithm" in hash ? hash : null;
}

let chosen: Promise<PasswordHash> | undefined;

/** A hash as chosen passwords have it. */
function chosenCost(): Promise<PasswordHash> {
  chosen ??= hashPassword("the cost of a chosen password").then((encoded) => readHash(encoded) as PasswordHash);
  return chosen;
}
