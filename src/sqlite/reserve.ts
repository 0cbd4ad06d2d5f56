import { randomFillSync } from "node:crypto";
import { closeSync, existsSync, openSync, renameSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import { diskSpace, freeBytes, leastFreeBytes } from "../lib/files.ts";
import { type Database, databaseFile } from "./database.ts";

/** The file beside the database whose space is given back when the disk is full, so that events can be removed. */
const RESERVE_FILE = "reserve";

// Room for a checkpoint of the whole write-ahead log, 16 MB, and for the log of a removal.
const MAX_BYTES = 20 * 1024 * 1024;
const SHARE_OF_DISK = 0.05;
const MIN_BYTES = 1024 * 1024;
// With more free space there is time to make a reserve later.
const AMPLE_BYTES = 1024 ** 3;
// The reserve must not be what fills a disk.
const SHARE_OF_FREE = 0.25;
// Without the reserve, opening a database or removing an event may find no room.
const LOW_BYTES = 512 * 1024;

const CHUNK_BYTES = 1024 * 1024;

/** The space that is kept for removing events from a full disk. */
export interface Reserve {
  /** Makes it once the disk is no longer ample, while there still is room for it. */
  keep(): void;
  /** Gives its space back. Returns whether there was any. */
  giveBack(): boolean;
}

/** The reserve beside a database file. */
export function reserveBeside(database: string): Reserve {
  const file = join(dirname(database), RESERVE_FILE);
  return {
    keep() {
      const { freeBytes, sizeBytes } = diskSpace(database);
      const bytes = Math.floor(Math.min(MAX_BYTES, sizeBytes * SHARE_OF_DISK));
      if (freeBytes > AMPLE_BYTES || bytes < MIN_BYTES || bytes > freeBytes * SHARE_OF_FREE || existsSync(file)) return;
      write(file, bytes);
    },
    giveBack() {
      const hasSpace = (statSync(file, { throwIfNoEntry: false })?.size ?? 0) > 0;
      rmSync(file, { force: true });
      return hasSpace;
    },
  };
}

/** Gives back the reserve of a data directory on a full disk, where not even the database could be opened. */
export function giveBackIfFull(dataDir: string): void {
  try {
    const file = databaseFile(dataDir);
    if (diskSpace(dirname(file)).freeBytes < LOW_BYTES) reserveBeside(file).giveBack();
  } catch {
    // Opening the database reports what is wrong.
  }
}

/** Whether a disk has so little space that all free pages of the database should be given back to it. */
export function isSpaceLow(database: string): boolean {
  const { freeBytes, sizeBytes } = diskSpace(database);
  return freeBytes < leastFreeBytes(undefined, sizeBytes);
}

/** Writes random bytes: a file system that compresses would keep no space for zeros. */
function write(file: string, bytes: number): void {
  const partial = `${file}.partial`;
  const chunk = randomFillSync(Buffer.alloc(Math.min(bytes, CHUNK_BYTES)));
  try {
    const handle = openSync(partial, "w", 0o600);
    try {
      for (let left = bytes; left > 0; ) left -= writeSync(handle, chunk, 0, Math.min(left, chunk.length));
    } finally {
      closeSync(handle);
    }
    renameSync(partial, file);
  } catch {
    // There was no room after all.
    rmSync(partial, { force: true });
  }
}

// What a step adds to the write-ahead log: the pages that every one changes, and at most those of an event with many
// attempts or of a page that is moved.
const PURGE_BYTES = 128 * 1024;
const PURGE_BYTES_PER = { event: 64 * 1024, page: 16 * 1024 };

/** Bounds a removal on a full disk, where the write-ahead log has room for few changes. */
export interface PurgeRoom {
  /** How many of these events may be removed, or pages moved, at once: at least one. */
  fitting(count: number, what?: keyof typeof PURGE_BYTES_PER): number;
  /** Call before a removal: gives back the reserve if {@link fitting} allowed less than was asked. */
  make(): void;
}

/** The room on the disk of a database. */
export function purgeRoom(database: Database): PurgeRoom {
  let isTight = false;
  return {
    fitting(count, what = "event") {
      const fitting = Math.max(1, Math.floor((freeBytes(database.name) - PURGE_BYTES) / PURGE_BYTES_PER[what]));
      isTight = fitting < count;
      return Math.min(fitting, count);
    },
    make() {
      if (isTight) reserveBeside(database.name).giveBack();
    },
  };
}
