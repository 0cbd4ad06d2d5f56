import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { Cleanup } from "./temp-dir.ts";

/** Mounts a disk of 2 MB until the test ends. Throws when this user may not. */
export function mountSmallDisk(t: Cleanup, path: string): void {
  mountDisk(t, path, "2m");
}

/**
 * Mounts a disk until the test ends. A size of 0 means unlimited, and `files` limits the number of files. Throws when
 * this user may not mount.
 */
export function mountDisk(t: Cleanup, path: string, size: string, files = 0): void {
  mkdirSync(path);
  // Also unmounted if the test is cancelled, when its own disposers do not run.
  t.after(() => void spawnSync("umount", ["--lazy", path]));
  const options = `size=${size},mode=0700${files === 0 ? "" : `,nr_inodes=${files}`}`;
  const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", options, "tmpfs", path], { encoding: "utf8" });
  if (mounted.status !== 0) {
    throw new Error(`a full disk needs the right to mount a tmpfs (root, CAP_SYS_ADMIN): ${mounted.stderr.trim()}`);
  }
}

/** Mounts a disk of 64 MB with a file system of its own, in a file beside it, until the test ends. */
export function mountImage(t: Cleanup, path: string): void {
  mkdirSync(path);
  t.after(() => void spawnSync("umount", ["--lazy", path]));
  const image = `${path}.img`;
  const steps = [
    ["truncate", "--size", "64M", image],
    ["mkfs.ext4", "-q", image],
    ["mount", "-o", "loop", image, path],
  ];
  for (const [program = "", ...args] of steps) {
    const { status, stderr } = spawnSync(program, args, { encoding: "utf8" });
    assert.equal(status, 0, `${program} ${args.join(" ")}: ${stderr}`);
  }
}

/** Creates empty files in a folder until the disk has no free inodes. Returns their paths. */
export function fillWithFiles(dir: string): string[] {
  for (const made: string[] = []; ; ) {
    const file = join(dir, `file-${made.length}`);
    try {
      closeSync(openSync(file, "wx"));
      made.push(file);
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, "ENOSPC");
      return made;
    }
  }
}

/** Writes a file until the disk is full. */
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
