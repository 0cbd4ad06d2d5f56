import { calibrate, type HashCost, hashPassword } from "../auth/password.ts";
import { characterCount, PASSWORD_MIN_CHARACTERS, passwordFault } from "../auth/password-text.ts";
import { parseDurationMs } from "../config/units.ts";
import { OperatorError } from "../errors.ts";
import { isVeryCommon } from "./common-passwords.ts";
import { printData, printJson, say } from "./output.ts";
import { askHidden, readStdin } from "./prompt.ts";

interface HashOptions {
  allowWeak?: boolean;
  calibrate?: string;
  json?: boolean;
}

/** Prints the argon2id hash of a password that is asked for, or read from standard input. */
export async function runHashPassword({ allowWeak, calibrate: target, json }: HashOptions): Promise<void> {
  const targetMs = target === undefined ? null : parseTarget(target);
  const hash = await newPasswordHash(allowWeak, targetMs);
  if (json) return printJson({ hash });
  printData(hash);
  if (process.stdout.isTTY) say("Set it as DEMO_PASSWORD, in single quotes, and restart the server.");
}

/**
 * The hash of a password that is asked for, or read from standard input. With a time in milliseconds its parameters make
 * one hash take about as long. Throws {@link OperatorError} for a password that is weak, unless that is allowed.
 */
export async function newPasswordHash(allowWeak = false, targetMs: number | null = null): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice() : onlyLine(await readStdin());
  const weakness = weaknessOf(password);
  if (weakness !== null && !allowWeak) throw new OperatorError(`${weakness}: choose another, or say --allow-weak`);
  if (weakness !== null) say(`${weakness}; it was hashed all the same.`);
  const cost = targetMs === null ? undefined : await chooseCost(targetMs);
  return hashPassword(password, cost);
}

/** What speaks against a password. Throws {@link OperatorError} for what no login could send. */
function weaknessOf(password: string): string | null {
  const fault = passwordFault(password);
  if (fault === null) return isVeryCommon(password) ? "The password is one of the first that a guesser tries" : null;
  const length = characterCount(password);
  if (length === 0 || length >= PASSWORD_MIN_CHARACTERS) throw new OperatorError(`The password ${fault}`);
  return `The password has fewer than ${PASSWORD_MIN_CHARACTERS} characters, and no login accepts it`;
}

const MIN_TARGET_MS = 10;
const MAX_TARGET_MS = 5000;

function parseTarget(text: string): number {
  const ms = parseDurationMs(text);
  if (ms === null || ms < MIN_TARGET_MS || ms > MAX_TARGET_MS) {
    throw new OperatorError("--calibrate is a duration from 10ms to 5s, e.g. 250ms");
  }
  return ms;
}

async function chooseCost(targetMs: number): Promise<HashCost> {
  const { cost, tookMs } = await calibrate(targetMs);
  say(`One hash with m=${cost.memoryKib},t=${cost.passes},p=1 takes ${Math.round(tookMs)} ms on this machine.`);
  if (tookMs > targetMs) say(`That is the least that is safe, and more than ${targetMs} ms.`);
  return cost;
}

/** A password of standard input, without the byte order mark that editors add. No login form takes a line end. */
function onlyLine(input: string): string {
  if (/[\r\n]/.test(input)) throw new OperatorError("Standard input has more than one line: the password is one");
  return input.replace(/^\uFEFF/, "");
}

async function askTwice(): Promise<string> {
  const password = await askHidden("Password: ");
  if (password !== (await askHidden("Again: ")))
    throw new OperatorError("The two passwords differ: nothing was printed", 1);
  return password;
}
