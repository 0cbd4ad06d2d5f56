import { CommanderError } from "commander";
import { ConfigFileError } from "../config/file/errors.ts";
import { AppError, describeError, type Fault, OperatorError, PROBLEMS, SettingsError } from "../errors.ts";
import { EVALUATE } from "../platform/own-process.ts";
import { createProgram } from "./program.ts";

/** Runs a command line. Returns the exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    await createProgram().parseAsync([...argv], { from: "user" });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    process.stderr.write(errorText(error));
    return error instanceof OperatorError ? error.exitCode : 1;
  }
}

/** The lines for a failed command: the error, with a hint if it has one. A defect is shown with its stack. */
function errorText(error: unknown): string {
  if (error instanceof ConfigFileError) return error.lines.map((line) => `${line}\n`).join("");
  if (error instanceof SettingsError) return error.faults.map(faultLines).join("");
  if (error instanceof OperatorError) return error.fault ? faultLines(error.fault) : `error: ${error.message}\n`;
  if (error instanceof AppError) {
    const found = `${PROBLEMS[error.code].detail} (${describeError(error.cause)})`;
    return faultLines({ found, remedy: "run authserve doctor to find the cause" });
  }
  return `error: ${error instanceof Error ? error.stack : error}\n`;
}

const faultLines = ({ found, remedy }: Fault) => `error: ${found}\n  hint: ${remedy}\n`;

/** Runs the process's command line and sets its exit code. */
export async function run(): Promise<void> {
  const argv = process.argv.slice(2);
  if (argv[0] === EVALUATE && process.connected) {
    // The server is gone.
    process.on("disconnect", () => process.exit());
    return (await import("./evaluate.ts")).evaluate();
  }
  const isServing = argv[0] === "serve";
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    // EPIPE: the reader of a pipe may leave early, as `head` does. The exit code still tells the result. A server goes
    // on without its log.
    if (error.code === "EPIPE" || isServing) return;
    process.stderr.write(`error: cannot write to standard output (${error.code})\n`);
    process.exit(1);
  });
  // A message that cannot be written must not stop the command.
  process.stderr.on("error", () => {});
  // By default Node opens its debugger to every user of this machine, who could read the secrets and run code.
  process.on("SIGUSR1", () => {});
  process.on("uncaughtException", (error) => {
    process.stderr.write(`error: ${error.stack}\n`);
    process.exit(1);
  });
  process.exitCode = await main(argv);
  // A failed command, or a server, may leave a handle open that keeps the process alive. A server does not wait for
  // readers.
  if (isServing) process.exit();
  if (process.exitCode === 0) return;
  await Promise.all([process.stdout, process.stderr].map(isWritten));
  process.exit();
}

/** Resolves when all earlier output is written. A pipe accepts no more than its reader has room for. */
function isWritten(stream: NodeJS.WriteStream): Promise<void> {
  return new Promise((resolve) => stream.write("", () => resolve()));
}

if (import.meta.main) void run();
