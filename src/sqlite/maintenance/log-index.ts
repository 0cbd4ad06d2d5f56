import { closeSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";
import { sizeOf } from "./inspect.ts";

// The header of the index (SQLite, WAL-mode File Format, 2.2), in the byte order of this machine, and that of the log.
const INDEX_HEADER_BYTES = 48;
const PAGE_SIZE_OFFSET = 14;
const FRAMES_OFFSET = 16;
const SALT_OFFSET = 32;
const LOG_HEADER_BYTES = 32;
const LOG_SALT_OFFSET = 16;
const SALT_BYTES = 8;
const FRAME_HEADER_BYTES = 24;

const MAX_TRIES = 5;

/**
 * What is wrong with the write-ahead log of a database that another process has open: it or its index was removed or
 * replaced, or it was cut short. Null if nothing is. Not for a process that has the database open: closing a file ends
 * all locks of the process on it (POSIX).
 */
export function faultOfLog(file: string): "-wal" | "-shm" | null {
  let index = beginning(`${file}-shm`, INDEX_HEADER_BYTES);
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    if (index === null) return "-shm";
    const isWhole = agrees(index, `${file}-wal`);
    const again = beginning(`${file}-shm`, INDEX_HEADER_BYTES);
    // Otherwise a commit came between the two reads.
    if (again?.equals(index)) return isWhole ? null : "-wal";
    index = again;
  }
  return null;
}

function agrees(index: Buffer, log: string): boolean {
  const header = beginning(log, LOG_HEADER_BYTES);
  if (header === null) return false;
  const isLittle = endianness() === "LE";
  const frames = isLittle ? index.readUInt32LE(FRAMES_OFFSET) : index.readUInt32BE(FRAMES_OFFSET);
  if (frames === 0) return true;
  const size = isLittle ? index.readUInt16LE(PAGE_SIZE_OFFSET) : index.readUInt16BE(PAGE_SIZE_OFFSET);
  const pageSize = size === 1 ? 65_536 : size;
  if (sizeOf(log) < LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageSize)) return false;
  const salt = header.subarray(LOG_SALT_OFFSET, LOG_SALT_OFFSET + SALT_BYTES);
  return salt.equals(index.subarray(SALT_OFFSET, SALT_OFFSET + SALT_BYTES));
}

/** The beginning of a file, with zeros after its end. Null if it is missing. */
function beginning(file: string, bytes: number): Buffer | null {
  let handle: number;
  try {
    handle = openSync(file, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    const buffer = Buffer.alloc(bytes);
    readSync(handle, buffer, 0, bytes, 0);
    return buffer;
  } finally {
    closeSync(handle);
  }
}
