import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";

/** Mounts a disk of 2 MB. Throws when this user may not. */
export function mountSmallDisk(path: string): Disposable {
  mkdirSync(path);
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", path], { encoding: "utf8" });
  if (mounted.status !== 0) {
    throw new Error(`a full disk needs the right to mount a tmpfs (root, CAP_SYS_ADMIN): ${mounted.stderr.trim()}`);
  }
  return { [Symbol.dispose]: () => void spawnSync("umount", ["--lazy", path]) };
}

/** Writes a file until the disk has no more room. */
export function fill(file: string): void {
  const handle = openSync(file, "w");
  try {
    for (const size of [65_536, 4096, 1]) {
      try {
        for (;;) writeSync(handle, Buffer.alloc(size));
      } catch (error) {
        assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
      }
    }
  } finally {
    closeSync(handle);
  }
}
