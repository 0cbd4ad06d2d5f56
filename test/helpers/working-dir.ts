import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made: string[] = [];

process.on("exit", () => {
  for (const dir of made) rmSync(dir, { recursive: true, force: true });
});

/** Makes a directory that is removed when the test process ends. */
export function workingDir(mode = 0o700): string {
  const dir = mkdtempSync(join(tmpdir(), "authserve-test-"));
  chmodSync(dir, mode);
  made.push(dir);
  return dir;
}
