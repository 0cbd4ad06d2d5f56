import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { digestOf, newToken } from "../../src/auth/machine-tokens/form.ts";
import { openDatabase } from "../../src/sqlite/database.ts";
import { localStores } from "../../src/sqlite/stores.ts";
import { cheapHash, EMAIL, PASSWORD } from "./credentials.ts";
import { type Server, startServer } from "./server.ts";
import type { Cleanup } from "./temp-dir.ts";
import { workingDir } from "./working-dir.ts";

/** The person of the environment in {@link PEOPLE}, who is an owner. */
export const ADA = { email: EMAIL, password: PASSWORD };
/** A person who is no owner. */
export const BEN = { email: "ben@example.com", password: "a password of ben alone" };
/** The same without a password. */
export const CLEO = { email: "cleo@example.com", password: "cleo has no password" };

/** Settings for the hashes of {@link PEOPLE}. */
const PEOPLE_ENV = { BEN_HASH: await cheapHash(BEN.password) };

const entry = (more: string, { email }: { email: string }) => `{ email: ${email}${more} }`;

/** Entries of the configuration file. */
export const ENTRIES = {
  ada: entry(", owner: true, groups: [admin]", ADA),
  ben: entry(", passwordHash: env:BEN_HASH, groups: [family]", BEN),
  cleo: entry("", CLEO),
};

/** `people` with some entries. */
export const peopleYaml = (entries: Record<string, string>) =>
  ["people:", ...Object.entries(entries).map(([name, text]) => `  ${name}: ${text}`), ""].join("\n");

/** `people` with ada, ben and cleo. */
export const PEOPLE = peopleYaml(ENTRIES);

/** Starts a server whose file has people, and `more`. */
export async function startWithPeople(
  context: Cleanup,
  { yaml = PEOPLE, env = {}, dir = workingDir() }: { yaml?: string; env?: Record<string, string>; dir?: string } = {},
): Promise<Server> {
  writeFileSync(join(dir, "authserve.yaml"), yaml);
  const server = await startServer({ dir, env: { ...PEOPLE_ENV, ...env } });
  context.after(() => server[Symbol.asyncDispose]());
  return server;
}

/** Puts a token into the store of a server, also one that no command makes. Returns its value. */
export async function putToken({ dir }: Pick<Server, "dir">, name: string, scopes: string[]): Promise<string> {
  const database = openDatabase(join(dir, "data"));
  try {
    const token = newToken();
    const record = { name, scopes, createdAt: Date.now(), expiresAt: null, digest: digestOf(token) };
    await localStores(database).tokens.create(record);
    return token;
  } finally {
    database.close();
  }
}
