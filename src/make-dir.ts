import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "./errors.ts";

/** Makes a directory and those above it, mode 0700. Node's own recursion does not end where none can be made, e.g. under /proc. */
export function makeDir(dir: string): void {
  try {
    makeOne(dir);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    const parent = dirname(dir);
    // Another process may have made it meanwhile.
    if (!existsSync(parent)) makeDir(parent);
    makeOne(dir);
  }
}

function makeOne(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const isThere = statSync(dir, { throwIfNoEntry: false })?.isDirectory();
    if (systemCode(error) !== "EEXIST" || !isThere) throw error;
  }
}
