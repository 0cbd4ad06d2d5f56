import { parsePasswordHash } from "../../src/auth/password-hash.ts";
import { createPeople } from "../../src/auth/people/people.ts";

const HASH = "$argon2id$v=19$m=8,t=1,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

/** The hash of another password. */
export const OTHER_HASH = HASH.replace(/A$/, "E");

/** People of whom there is only the one of the environment. */
export function onePerson({ id = "1", email = "demo@example.com", passwordHash = HASH } = {}) {
  const hash = parsePasswordHash(passwordHash);
  if (!("algorithm" in hash)) throw new Error(hash.reason);
  return createPeople({ id, email, passwordHash: hash });
}
