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
  type Stats,
  statfsSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { systemCode } from "../errors.ts";

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
    flushNames(dirname(dir));
  } catch (error) {
    const isThere = statSync(dir, { throwIfNoEntry: false })?.isDirectory();
    if (systemCode(error) !== "EEXIST" || !isThere) throw error;
  }
}

/** Returns when the content of a file, or the names in a folder, are on disk. */
export function flush(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

// Of file systems without hard links, e.g. exFAT and some network shares, and of a file that has too many.
const NO_LINK = ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"];

/** As {@link flush}, of the names in a folder that this user may not be allowed to read. */
function flushNames(folder: string): void {
  try {
    flush(folder);
  } catch {
    // The file system writes them when it does.
  }
}

const GROUP_OR_OTHERS = 0o077;

/** The mode, in octal digits, of what others than its owner may use; null when nobody else may. */
export function openMode({ mode }: Stats): string | null {
  if (process.platform === "win32" || (mode & GROUP_OR_OTHERS) === 0) return null;
  return (mode & 0o777).toString(8);
}

/** Gives a file a second name, or makes a copy of that name where there are no links. Throws EEXIST when the name is taken. */
export function linkOrCopy(file: string, name: string): void {
  try {
    linkSync(file, name);
  } catch (error) {
    if (!NO_LINK.includes(systemCode(error))) throw error;
    copyFileSync(file, name, constants.COPYFILE_EXCL);
  }
}

const COPY_BYTES = 4 * 1024 * 1024;

/** Copies a file, and tells after each piece how many bytes are copied, of how many. */
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

/** What this user may still write to the disk of a file, in bytes. A file system without a bound says that it has no blocks. */
export function freeBytes(file: string): number {
  const { blocks, bavail, bsize } = statfsSync(file);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
