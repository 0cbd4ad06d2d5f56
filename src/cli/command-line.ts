import { CommanderError } from "commander";
import { ConfigFileError } from "../config/file/errors.ts";
import { AppError, describeError, type Fault, OperatorError, PROBLEMS, SettingsError } from "../errors.ts";
import { createProgram } from "./program.ts";

/** Runs a command line. Returns the exit code: 0 done, 1 failed, 2 wrong usage or settings. */
export async function runCommandLine(argv: readonly string[]): Promise<number> {
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
  if (error instanceof ConfigFileError) return `${error.lines.join("\n")}\n${readMore("reference/configuration-file")}`;
  if (error instanceof SettingsError) return error.faults.map(faultLines).join("") + readMore("reference/settings");
  if (error instanceof OperatorError) return error.fault ? faultLines(error.fault) : `error: ${error.message}\n`;
  if (error instanceof AppError) {
    const found = `${PROBLEMS[error.code].detail} (${describeError(error.cause)})`;
    return faultLines({ found, remedy: "run authserve doctor to find the cause" }) + readMore("faults");
  }
  return `error: ${error instanceof Error ? error.stack : error}\n`;
}

const readMore = (page: string) => `  more: authserve docs ${page}\n`;
const faultLines = ({ found, remedy }: Fault) => `error: ${found}\n  hint: ${remedy}\n`;
