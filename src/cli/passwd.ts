import { randomUUID } from "node:crypto";
import { readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { OperatorError, systemCode } from "../errors.ts";
import { newPasswordHash } from "./hash-password.ts";
import { printData, say } from "./output.ts";

const ENV_FILE = ".env";
const LINE = /^([ \t]*(?:export[ \t]+)?DEMO_PASSWORD[ \t]*=).*$/m;

/** Sets a new password of the user: in `.env` where that has it, else by printing what to set. */
export async function runPasswd({ allowWeak }: { allowWeak?: boolean }): Promise<void> {
  const setElsewhere = ["DEMO_PASSWORD", "DEMO_PASSWORD_FILE"].find((name) => process.env[name]);
  const content = readEnvFile();
  const hash = await newPasswordHash(allowWeak);
  const value = `'${hash}'`;
  if (setElsewhere !== undefined || content === null || !LINE.test(content)) {
    printData(`DEMO_PASSWORD=${value}`);
    const where =
      setElsewhere === undefined ? "It is not set in .env" : `${setElsewhere} in the environment goes before .env`;
    say(`${where}: set this there, and start the server again. That ends the session.`);
    return;
  }
  replaceEnvFile(content.replace(LINE, (_, name: string) => name + value));
  say("Wrote the new password's hash to .env. Start the server again: that ends the session.");
}

function readEnvFile(): string | null {
  try {
    return readFileSync(ENV_FILE, "utf8");
  } catch (error) {
    if (systemCode(error) === "ENOENT") return null;
    throw new OperatorError(`.env cannot be read (${systemCode(error)}): run this as its owner`, 1);
  }
}

/** Puts a new file in the place of the old one, in one step. */
function replaceEnvFile(content: string): void {
  const partial = `${ENV_FILE}.${randomUUID()}.partial`;
  try {
    const file = realpathSync(ENV_FILE);
    writeFileSync(partial, content, { mode: statSync(file).mode & 0o777, flag: "wx", flush: true });
    renameSync(partial, file);
  } catch (error) {
    throw new OperatorError(`.env cannot be written (${systemCode(error)}): nothing was changed`, 1);
  } finally {
    rmSync(partial, { force: true });
  }
}
