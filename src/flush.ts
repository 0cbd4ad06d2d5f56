import { closeSync, fsyncSync, openSync } from "node:fs";

/** Returns when the content of a file, or the names in a folder, are on disk. */
export function flush(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
