import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { EMAIL } from "./credentials.ts";
import type { Server } from "./server.ts";
import { workingDir } from "./working-dir.ts";

/** The person of the file who is invited in tests. */
export const BEN = { email: "ben@example.com", password: "a password that ben has chosen" };

/** Writes people into the configuration file of a folder: the person of the environment, and these. */
export function writePeople(dir: string, others: Record<string, object>): void {
  const people = { ada: { email: EMAIL, owner: true }, ...others };
  writeFileSync(join(dir, "authserve.yaml"), JSON.stringify({ people }));
}

/** A folder whose configuration file has Ben. */
export function dirWithBen(): string {
  const dir = workingDir();
  writePeople(dir, { ben: { email: BEN.email, name: "Ben" } });
  return dir;
}

/** The link of `people invite` for a person. */
export async function invite(server: Server, name = "ben", env: Record<string, string> = {}): Promise<string> {
  const { code, stdout, stderr } = await server.run(["people", "invite", name], env);
  assert.equal(code, 0, stderr);
  return stdout.trim();
}
