import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type CommandOptions, type Finished, runProgram } from "./command.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The executable that is tested. `AUTHSERVE_BINARY` names another one. */
export const BINARY = process.env.AUTHSERVE_BINARY ?? join(ROOT, "dist/authserve");

/** The reason why tests of the binary cannot run, or false. With `REQUIRE_BACKENDS=1`, builds a missing binary. */
export function binaryIsMissing(): string | false {
  if (existsSync(BINARY)) return false;
  if (process.env.REQUIRE_BACKENDS !== "1") return "dist/authserve is missing: npm run build:binary makes it";
  execFileSync(process.execPath, [join(ROOT, "scripts/build.ts")], { stdio: "ignore" });
  return false;
}

/** Runs the binary until it ends. */
export function runBinary(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return runProgram(BINARY, args, options);
}
