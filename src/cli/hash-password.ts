import { hashPassword } from "../auth/password.ts";
import { OperatorError } from "../errors.ts";
import { printData, say } from "./output.ts";
import { askHidden, readStdin } from "./prompt.ts";

const MIN_LENGTH = 6;
const MAX_LENGTH = 1024;

/** Prints the argon2id hash of a password that is asked for, or read from standard input. */
export async function runHashPassword(): Promise<void> {
  const password = process.stdin.isTTY ? await askTwice() : await readStdin();
  const length = [...password.normalize("NFC")].length;
  if (length < MIN_LENGTH || length > MAX_LENGTH) {
    throw new OperatorError(`The password must have ${MIN_LENGTH} to ${MAX_LENGTH} characters`);
  }
  printData(await hashPassword(password));
  if (process.stdout.isTTY) say("Set it as DEMO_PASSWORD, in single quotes, and restart the server.");
}

async function askTwice(): Promise<string> {
  const password = await askHidden("Password: ");
  if (password !== (await askHidden("Again: ")))
    throw new OperatorError("The two passwords differ: nothing was printed", 1);
  return password;
}
