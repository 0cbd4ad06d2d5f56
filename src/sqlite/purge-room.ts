import { freeBytes } from "../lib/files.ts";
import type { Database } from "./database.ts";
import { reserveBeside } from "./reserve.ts";

// What a step adds to the write-ahead log: the pages that every one changes, and at most those of an event with many
// attempts or of a page that is moved.
const BYTES = 128 * 1024;
const BYTES_PER = { event: 64 * 1024, page: 16 * 1024 };

/** Bounds a removal on a full disk, where the write-ahead log has room for few changes. */
export interface PurgeRoom {
  /** How many of these events may be removed, or pages moved, at once: at least one. */
  fitting(count: number, what?: keyof typeof BYTES_PER): number;
  /** Call before a removal: gives back the reserve if {@link fitting} allowed less than was asked. */
  make(): void;
}

/** The room on the disk of a database. */
export function purgeRoom(database: Database): PurgeRoom {
  let isTight = false;
  return {
    fitting(count, what = "event") {
      const fitting = Math.max(1, Math.floor((freeBytes(database.name) - BYTES) / BYTES_PER[what]));
      isTight = fitting < count;
      return Math.min(fitting, count);
    },
    make() {
      if (isTight) reserveBeside(database.name).giveBack();
    },
  };
}
