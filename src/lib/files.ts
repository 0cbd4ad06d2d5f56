import { randomUUID } from "node:crypto";
import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  type StatsFs,
  statfsSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { statfs } from "node:fs/promises";
import { dirname } from "node:path";
import { systemCode } from "../errors.ts";

/** Creates a directory and its missing parents, mode 0700. Node's recursive `mkdir` never returns under /proc. */
export function makeDir(dir: string): void {
  try {
    makeOne(dir);
  } catch (error) {
    if (systemCode(error) !== "ENOENT") throw error;
    const parent = dirname(dir);
    // Another process may have created it meanwhile.
    if (!existsSync(parent)) makeDir(parent);
    makeOne(dir);
  }
}

function makeOne(dir: string): void {
  try {
    mkdirSync(dir, { mode: 0o700 });
    flushNames(dirname(dir));
  } catch (error) {
    const isThere = statSync(dir, { throwIfNoEntry: false })?.isDirectory();
    if (systemCode(error) !== "EEXIST" || !isThere) throw error;
  }
}

/** Identifies a file independently of its name. */
export interface FileId {
  dev: bigint;
  ino: bigint;
}

/** The file of this name. Throws the system's error. */
export function fileId(path: string): FileId {
  const { dev, ino } = statSync(path, { bigint: true });
  return { dev, ino };
}

/** Whether this name still is that of the file. */
export function isInPlace(path: string, file: FileId): boolean {
  return sizeInPlace(path, file) !== null;
}

/** The size of a file in bytes, if this name still is that of it; else null. */
export function sizeInPlace(path: string, { dev, ino }: FileId): number | null {
  try {
    const found = statSync(path, { bigint: true });
    return found.ino === ino && found.dev === dev ? Number(found.size) : null;
  } catch {
    // Nothing is there, or this user may no longer look.
    return null;
  }
}

/** Flushes the content of a file, or the names in a folder, to disk (fsync). */
export function flush(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

// Errors of file systems without hard links, e.g. exFAT and some network shares, and of a file with too many links.
const NO_LINK = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** Flushes the names in a folder if this user may read the folder. */
function flushNames(folder: string): void {
  try {
    flush(folder);
  } catch {
    // Without fsync the file system writes them later.
  }
}

const GROUP_OR_OTHERS = 0o077;

/** The mode of a file, in octal digits, if its group or others have any access. Null if only its owner has. */
export function openMode({ mode }: Stats): string | null {
  if ((mode & GROUP_OR_OTHERS) === 0) return null;
  return (mode & 0o777).toString(8);
}

/** Hard-links a file, or copies it where links are not supported. Throws EEXIST when the name is taken. */
export function linkOrCopy(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINK.includes(systemCode(error))) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}

/** Replaces or creates a file atomically. `flush` waits until its content is on disk. */
export function replaceFile(
  file: string,
  content: string | Uint8Array,
  { mode, flush }: { mode: number; flush: boolean },
): void {
  // Not the process id: in containers it repeats, and a killed process may have left a file of that name.
  const partial = `${file}.${randomUUID()}.partial`;
  try {
    writeFileSync(partial, content, { mode, flag: "wx", flush });
    renameSync(partial, file);
  } catch (error) {
    rmSync(partial, { force: true });
    throw error;
  }
}

const COPY_BYTES = 4 * 1024 * 1024;

/** Copies a file. Calls `onProgress` after each piece, with bytes. */
export function copyFile(from: string, to: string, onProgress: (copied: number, total: number) => void): void {
  const buffer = Buffer.allocUnsafe(COPY_BYTES);
  const source = openSync(from, "r");
  try {
    const target = openSync(to, "w");
    try {
      const total = fstatSync(source).size;
      let copied = 0;
      for (let read = readSync(source, buffer); read > 0; read = readSync(source, buffer)) {
        for (let written = 0; written < read; ) written += writeSync(target, buffer, written, read - written);
        copied += read;
        onProgress(copied, total);
      }
    } finally {
      closeSync(target);
    }
  } finally {
    closeSync(source);
  }
}

/** The space of a disk: what is free for this user, and its size. Both are Infinity if it has no limit. */
export interface DiskSpace {
  freeBytes: number;
  sizeBytes: number;
}

/** Reads the space of the disk of a file. It may take for ever on a disk that hangs, but does not block. */
export async function readDiskSpace(file: string): Promise<DiskSpace> {
  return spaceOf(await statfs(file));
}

/** The space of the disk of a file. */
export function diskSpace(file: string): DiskSpace {
  return spaceOf(statfsSync(file));
}

/** The free space for this user on the disk of a file, in bytes. */
export function freeBytes(file: string): number {
  return diskSpace(file).freeBytes;
}

const DEFAULT_FREE_BYTES = 256 * 1024 ** 2;
const DEFAULT_FREE_SHARE = 0.05;

/** The least free space of a disk of this size: the configured one, or the default. */
export function leastFreeBytes(configured: number | undefined, sizeBytes: number): number {
  return configured ?? Math.min(DEFAULT_FREE_BYTES, Math.floor(sizeBytes * DEFAULT_FREE_SHARE));
}

/** A file system without a limit reports 0 blocks. */
function spaceOf({ blocks, bavail, bsize }: Pick<StatsFs, "blocks" | "bavail" | "bsize">): DiskSpace {
  if (blocks === 0) return { freeBytes: Number.POSITIVE_INFINITY, sizeBytes: Number.POSITIVE_INFINITY };
  return { freeBytes: bavail * bsize, sizeBytes: blocks * bsize };
}
