import { randomBytes, randomUUID } from "node:crypto";
import { lstatSync, rmSync, statSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { hashPassword, passwordFault } from "../auth/password.ts";
import { isEmail } from "../auth/user.ts";
import { settingsPlace } from "../config/service.ts";
import { type Environment, readSettings } from "../config/settings.ts";
import { type Fault, OperatorError, systemCode } from "../errors.ts";
import { linkOrCopy } from "../lib/files.ts";
import { jsonText, say, writeOrUndo } from "./output.ts";

const ENV_FILE = ".env";
/** The file for the password if `serve --init` runs without a terminal. */
export const PASSWORD_FILE = ".env.password";

/** The result of writing `.env`. `password` is stored nowhere; it is null if the environment sets it or its hash. */
interface WrittenEnv {
  password: string | null;
}

/**
 * Writes `.env` (mode 0600) with new secrets and a user, except settings that `given` has, directly or as `NAME_FILE`.
 * Returns null if `.env` exists. It never replaces one.
 */
export async function writeEnvFile(email: string, given: Environment = {}): Promise<WrittenEnv | null> {
  if (!isEmail(email)) {
    throw new OperatorError({ found: "--email is not an e-mail address", remedy: "give one such as demo@example.com" });
  }
  const quote = email.includes("'") ? '"' : "'";
  if (quote === '"' && /["$`\\]/.test(email)) {
    throw new OperatorError({
      found: "--email has quotes that .env cannot hold",
      remedy: "set DEMO_EMAIL in the environment instead",
    });
  }
  if (isEnvFileThere()) return null;
  const isGiven = (name: string) => Boolean(given[name] || given[`${name}_FILE`]);
  const { INITIAL_PASSWORD: initial } = readSettings(given, ["INITIAL_PASSWORD"]);
  const fault = initial === undefined ? null : passwordFault(initial);
  if (fault !== null) throw new OperatorError({ found: `INITIAL_PASSWORD ${fault}`, remedy: "choose another one" });
  const password = isGiven("DEMO_PASSWORD") || initial ? null : randomBytes(15).toString("base64url");
  const hashed = initial ?? password;
  const values = {
    JWT_SECRET: `'${randomBytes(48).toString("base64url")}'`,
    JWT_TTL: "'900s'",
    DEMO_EMAIL: quote + email + quote,
    DEMO_PASSWORD: hashed === null ? null : `'${await hashPassword(hashed)}'`,
    WEBHOOK_SECRET: `'${randomBytes(32).toString("base64url")}'`,
  };
  const lines = [
    "# Settings of authserve. Single quotes protect the $ of the hash, here and in a shell.",
    ...Object.entries(values).flatMap(([name, value]) => (isGiven(name) ? [] : [`${name}=${value}`])),
  ];
  // Renamed when complete: a partial .env would stop the next try.
  const partial = `${ENV_FILE}.${randomUUID()}.partial`;
  try {
    writeFileSync(partial, `${lines.join("\n")}\n`, { mode: 0o600, flag: "wx", flush: true });
    linkOrCopy(partial, ENV_FILE);
  } catch (error) {
    const code = systemCode(error);
    if (code === "EEXIST") return null;
    const remedy = code === "ENOSPC" ? "make space" : "run this in a folder that this user can write";
    throw new OperatorError({ found: `.env cannot be written (${code})`, remedy }, 1);
  } finally {
    rmSync(partial, { force: true });
  }
  return { password };
}

/** Whether `.env` exists, as a file or anything else. False if this user may not look. */
export function isEnvFileThere(): boolean {
  try {
    return lstatSync(ENV_FILE, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

const wroteText = (email: string, shown: string) =>
  `Wrote .env (only this user can read it).\n\n  user      ${email}\n  password  ${shown}`;

/**
 * Prints what `serve --init` wrote. Without a terminal, standard error may be a log, so the password goes into a file.
 * Throws {@link OperatorError} if that cannot be written, and removes `.env`.
 */
export async function reportFirstStart(email: string, written: WrittenEnv): Promise<void> {
  const { password } = written;
  if (password === null || process.stderr.isTTY) return reportWritten(email, written);
  try {
    rmSync(PASSWORD_FILE, { force: true });
    writeFileSync(PASSWORD_FILE, `${password}\n`, { mode: 0o600, flag: "wx", flush: true });
  } catch (error) {
    rmSync(ENV_FILE);
    throw new OperatorError(removedAgain(`${PASSWORD_FILE} cannot be written (${systemCode(error)})`), 1);
  }
  say(wroteText(email, `in ${PASSWORD_FILE} (only this user can read it). Store it elsewhere, then delete the file.`));
}

/**
 * Prints what was written, with the password. Throws {@link OperatorError} if it cannot be printed, and removes `.env`.
 */
async function reportWritten(email: string, { password }: WrittenEnv): Promise<void> {
  if (password === null) return say(wroteText(email, "as set in the environment"));
  await showPassword(
    process.stderr,
    `${wroteText(email, password)}\n\nThe password is shown only now. Its hash is in .env.`,
  );
}

/** Prints the password, or removes `.env`: nobody would know its password, and the next `init` would not replace it. */
async function showPassword(stream: NodeJS.WriteStream, text: string): Promise<void> {
  try {
    await writeOrUndo(stream, text, () => rmSync(ENV_FILE));
  } catch (error) {
    throw new OperatorError(removedAgain(`The password cannot be shown (${systemCode(error)})`), 1);
  }
}

const removedAgain = (found: string) => ({ found, remedy: ".env was removed; solve this, then run the command again" });

/** Writes `.env` and prints the password. Throws {@link OperatorError} if the file exists. */
export async function runInit({ email, json }: { email: string; json?: boolean }): Promise<void> {
  const isBesideService = settingsPlace() === "beside";
  const written = await writeEnvFile(email);
  if (written === null) throw new OperatorError(existingEnvFile(), 1);
  if (json)
    await showPassword(process.stdout, jsonText({ file: resolve(ENV_FILE), email, password: written.password }));
  else await reportWritten(email, written);
  if (isBesideService) say("The service of this machine does not read this file: authserve init --system sets it up.");
}

function existingEnvFile(): Fault {
  try {
    if (statSync(ENV_FILE).isDirectory()) return { found: ".env is a directory", remedy: "move it away first" };
  } catch {
    return { found: ".env is a link to a missing file", remedy: "remove it, or create the file that it names" };
  }
  return { found: ".env exists and was not changed", remedy: "edit it, or move it away first" };
}
