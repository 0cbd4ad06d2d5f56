import { isVeryCommon } from "../auth/common-passwords.ts";
import {
  calibrate,
  characterCount,
  type HashCost,
  hashPassword,
  PASSWORD_MIN_CHARACTERS,
  passwordFault,
} from "../auth/password.ts";
import { OperatorError } from "../errors.ts";
import { durationOption } from "./option-values.ts";
import { printData, printJson, say } from "./output.ts";
import { askHidden, readStdin } from "./prompt.ts";

interface HashOptions {
  allowWeak?: boolean;
  calibrate?: string;
  json?: boolean;
}

/** Prints the argon2id hash of a password from a prompt or standard input. */
export async function runHashPassword({ allowWeak, calibrate: target, json }: HashOptions): Promise<void> {
  const targetMs = target === undefined ? null : durationOption("--calibrate", target, CALIBRATION);
  const hash = await newPasswordHash(allowWeak, targetMs);
  if (json) return printJson({ hash });
  printData(hash);
  if (process.stdout.isTTY) say("Set DEMO_PASSWORD to this hash, in single quotes, and restart the server.");
}

/**
 * Hashes a password from a prompt or standard input. `targetMs` chooses a cost at which one hash takes about that long.
 * Throws {@link OperatorError} for a weak password, unless `allowWeak` is set.
 */
export async function newPasswordHash(allowWeak = false, targetMs: number | null = null): Promise<string> {
  const password = process.stdin.isTTY ? await askTwice() : onlyLine(await readStdin());
  const weakness = weaknessOf(password);
  if (weakness !== null && !allowWeak)
    throw new OperatorError({ found: weakness, remedy: "choose another password, or use --allow-weak" });
  if (weakness !== null) say(`Warning: ${weakness}.`);
  const cost = targetMs === null ? undefined : await chooseCost(targetMs);
  return hashPassword(password, cost);
}

/** Why a password is weak, or null. Throws {@link OperatorError} for a password that no login accepts. */
function weaknessOf(password: string): string | null {
  const fault = passwordFault(password);
  if (fault === null) return isVeryCommon(password) ? "The password is very common" : null;
  const length = characterCount(password);
  if (length === 0 || length >= PASSWORD_MIN_CHARACTERS) throw new OperatorError(`The password ${fault}`);
  return `The password has fewer than ${PASSWORD_MIN_CHARACTERS} characters, so no login accepts it`;
}

const CALIBRATION = { leastMs: 10, mostMs: 5000, text: "from 10ms to 5s, e.g. 250ms" };

async function chooseCost(targetMs: number): Promise<HashCost> {
  const { cost, tookMs } = await calibrate(targetMs);
  say(`One hash with m=${cost.memoryKib},t=${cost.passes},p=1 takes ${Math.round(tookMs)} ms on this machine.`);
  if (tookMs > targetMs) say(`That is more than ${targetMs} ms, but a lower cost would not be safe.`);
  return cost;
}

/** Removes the byte order mark that editors add. A line end in a password is refused: no login form can send one. */
function onlyLine(input: string): string {
  if (/[\r\n]/.test(input)) {
    throw new OperatorError({
      found: "Standard input has more than one line",
      remedy: "give the password as one line",
    });
  }
  return input.replace(/^\uFEFF/, "");
}

async function askTwice(): Promise<string> {
  const password = await askHidden("Password: ");
  if (password !== (await askHidden("Again: ")))
    throw new OperatorError({ found: "The two passwords differ", remedy: "run the command again" }, 1);
  return password;
}
