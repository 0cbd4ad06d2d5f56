import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a directory and those above it, mode 0700. Node's own recursion does not end where none can be made, e.g. under /proc. */
export function makeDir(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST" && statSync(dir, { throwIfNoEntry: false })?.isDirectory()) return;
    const parent = dirname(dir);
    if (code !== "ENOENT" || existsSync(parent)) throw error;
    makeDir(parent);
    mkdirSync(dir, { mode: 0o700 });
  }
}
