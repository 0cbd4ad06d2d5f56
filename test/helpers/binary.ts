import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { type CommandOptions, type Finished, runProgram } from "./command.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The built executable that is tested. `AUTHSERVE` names another one. */
export const BINARY = resolve(process.env.AUTHSERVE ?? join(ROOT, "dist/authserve"));

/** The reason why tests of the binary cannot run, or false. With `REQUIRE_BACKENDS=1`, builds a missing binary. */
export function binaryIsMissing(): string | false {
  if (existsSync(BINARY)) return false;
  if (process.env.REQUIRE_BACKENDS !== "1") return "dist/authserve is missing: npm run build:binary makes it";
  execFileSync(process.execPath, [join(ROOT, "scripts/build.ts")], { stdio: "ignore" });
  return false;
}

/** Runs the binary until it ends. It chooses the folder of its add-ons itself. */
export function runBinary(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return runProgram(BINARY, args, { ...options, env: { ADDON_DIR: undefined, ...options.env } });
}
