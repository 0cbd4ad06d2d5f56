import { randomBytes, randomUUID } from "node:crypto";
import { lstatSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { isEmail } from "../auth/email.ts";
import { hashPassword } from "../auth/password.ts";
import type { Environment } from "../config/settings.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { linkOrCopy } from "../lib/files.ts";
import { jsonText, say, showOnce } from "./output.ts";

const ENV_FILE = ".env";
/** Holds the password of a first start that nobody watched. */
export const PASSWORD_FILE = ".env.password";

/** What was written: the user's password, which is kept nowhere, or null when its hash was given. */
export interface WrittenEnv {
  password: string | null;
}

/**
 * Writes `.env` (mode 0600) with fresh secrets and a user, without what `given` sets by itself or by a file.
 * Returns null when the file is there already. It never replaces one.
 */
export async function writeEnvFile(email: string, given: Environment = {}): Promise<WrittenEnv | null> {
  if (!isEmail(email)) throw new OperatorError("--email is not an e-mail address: e.g. demo@example.com");
  const quote = email.includes("'") ? '"' : "'";
  if (quote === '"' && /["$`\\]/.test(email)) {
    throw new OperatorError("--email holds quotes that .env cannot: set DEMO_EMAIL in the environment instead");
  }
  if (isEnvFileThere()) return null;
  const isGiven = (name: string) => Boolean(given[name] || given[`${name}_FILE`]);
  const password = isGiven("DEMO_PASSWORD") ? null : randomBytes(15).toString("base64url");
  const values = {
    JWT_SECRET: `'${randomBytes(48).toString("base64url")}'`,
    JWT_TTL: "'900s'",
    DEMO_EMAIL: quote + email + quote,
    DEMO_PASSWORD: password === null ? null : `'${await hashPassword(password)}'`,
    WEBHOOK_SECRET: `'${randomBytes(32).toString("base64url")}'`,
  };
  const lines = [
    "# Settings of authserve. Single quotes keep the $ of the hash as it is, here and in a shell.",
    ...Object.entries(values).flatMap(([name, value]) => (isGiven(name) ? [] : [`${name}=${value}`])),
  ];
  // It has its name when it is whole: half a file would be in the way of the next try.
  const partial = `${ENV_FILE}.${randomUUID()}.partial`;
  try {
    writeFileSync(partial, `${lines.join("\n")}\n`, { mode: 0o600, flag: "wx", flush: true });
    linkOrCopy(partial, ENV_FILE);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return null;
    const remedy = code === "ENOSPC" ? "make space" : "run this in a folder that this user can write";
    throw new OperatorError(`.env cannot be written (${code}): ${remedy}`, 1);
  } finally {
    rmSync(partial, { force: true });
  }
  return { password };
}

/** Whatever it is, as far as this user may look. */
export function isEnvFileThere(): boolean {
  try {
    return lstatSync(ENV_FILE, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const wrote = (email: string, shown: string) =>
  `Wrote .env (only this user can read it).\n\n  user      ${email}\n  password  ${shown}`;

/**
 * Says what a first start has written. Without a terminal standard error is a log, so the password goes into a file.
 * Throws {@link OperatorError} when that cannot be written; `.env` is gone then.
 */
export async function sayStarted(email: string, written: WrittenEnv): Promise<void> {
  const { password } = written;
  if (password === null || process.stderr.isTTY) return sayWritten(email, written);
  try {
    rmSync(PASSWORD_FILE, { force: true });
    writeFileSync(PASSWORD_FILE, `${password}\n`, { mode: 0o600, flag: "wx", flush: true });
  } catch (error) {
    rmSync(ENV_FILE);
    throw new OperatorError(`${PASSWORD_FILE} cannot be written (${systemCode(error)}): .env was removed again`, 1);
  }
  say(wrote(email, `in ${PASSWORD_FILE}, which only this user can read: keep it elsewhere, and remove the file`));
}

/** Shows the one time what the file does not hold. Throws {@link OperatorError} when it cannot be shown; the file is gone then. */
async function sayWritten(email: string, { password }: WrittenEnv): Promise<void> {
  if (password === null) return say(wrote(email, "the one whose hash is set"));
  await showPassword(
    process.stderr,
    `${wrote(email, password)}\n\nThe password is shown this once; its hash is in .env.`,
  );
}

/** A file whose password nobody has seen would be in the way of the next try. */
async function showPassword(stream: NodeJS.WriteStream, text: string): Promise<void> {
  try {
    await showOnce(stream, text, () => rmSync(ENV_FILE));
  } catch (error) {
    throw new OperatorError(`The password cannot be shown (${systemCode(error)}): .env was removed again`, 1);
  }
}

export async function runInit({ email, json }: { email: string; json?: boolean }): Promise<void> {
  const written = await writeEnvFile(email);
  if (written === null) throw new OperatorError(envFileInTheWay(), 1);
  if (!json) return sayWritten(email, written);
  await showPassword(process.stdout, jsonText({ file: resolve(ENV_FILE), email, password: written.password }));
}

function envFileInTheWay(): string {
  try {
    if (statSync(ENV_FILE).isDirectory()) return ".env is a directory: move it away first";
  } catch {
    return ".env is a link that leads nowhere: remove it, or make the file that it names";
  }
  return ".env is there already and was not changed: edit it, or move it away first";
}
