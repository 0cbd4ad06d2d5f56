import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A test's context: it runs callbacks when the test ends. */
export interface Cleanup {
  after(callback: () => void | Promise<void>): void;
}

/** Makes a directory that is removed when the test ends. */
export function tempDir(context: Cleanup): string {
  const path = mkdtempSync(join(tmpdir(), "authserve-test-"));
  context.after(() => rmSync(path, { recursive: true, force: true, maxRetries: 3 }));
  return path;
}
