import { statfsSync } from "node:fs";
import { CHECKPOINT_PAGES, type Database } from "../sqlite/database.ts";

// The log may take a quarter of what is free: a checkpoint writes each of its pages once more.
const SHARE_OF_FREE = 4;
const FEWEST_PAGES = 64;

const LOOK_EVERY_MS = 1000;

/** Keeps the write-ahead log small against the space that is left. Without that it fills a small disk by itself. */
export interface Checkpoints {
  /** To be called before a transaction; `isFull` when the one before found no room. */
  tend(isFull: boolean): void;
}

/** Tends the log of the one connection that writes. */
export function createCheckpoints(database: Database): Checkpoints {
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  let pages = CHECKPOINT_PAGES;
  let lookedAt = Number.NEGATIVE_INFINITY;

  return {
    tend(isFull) {
      const now = performance.now();
      if (now - lookedAt < LOOK_EVERY_MS) return;
      lookedAt = now;
      try {
        const fitting = Math.floor(freeBytes(database.name) / SHARE_OF_FREE / pageSize);
        const wanted = Math.max(FEWEST_PAGES, Math.min(fitting, CHECKPOINT_PAGES));
        if (wanted !== pages) database.pragma(`wal_autocheckpoint = ${wanted}`);
        pages = wanted;
        // What is written to the database need not be in the log any more: the next transaction takes its place.
        if (isFull) database.pragma("wal_checkpoint(PASSIVE)");
      } catch {
        // The transaction that follows says what is wrong.
      }
    },
  };
}

/** What this user may still write to the disk of a file. A file system without a bound says that it has no blocks. */
export function freeBytes(file: string): number {
  const { blocks, bavail, bsize } = statfsSync(file);
  return blocks === 0 ? Number.POSITIVE_INFINITY : bavail * bsize;
}
