import { AppError, systemCode } from "../errors.ts";
import { freeBytes } from "../lib/files.ts";
import { atomic, CHECKPOINT_PAGES, type Database, guarded } from "./database.ts";
import { isDamage } from "./maintenance/inspect.ts";
import { createMetadata } from "./metadata.ts";

/** Transactions whose failure is remembered: a full disk goes on answering what is only read. */
export interface WatchedWrites {
  /** Runs a function as one transaction. Throws `store_unavailable` when SQLite fails, and then nothing has changed. */
  run<T>(group: () => T): T;
  /**
   * Inside of {@link run}: fails when the file is not in its place. When a change was lost, fails as that did while there
   * is no room, or tries another one.
   */
  check(): void;
}

// The next delivery may be as large as this.
const ROOM_BYTES = 1024 * 1024;

/** What a check writes: when it was, or a value of {@link ROOM_BYTES} while it is proved that there is room for one. */
const CHECK = "last_write_check";

interface LostChange {
  error: AppError;
  /** How many changes were made until then. */
  changes: unknown;
}

/** Watches the transactions of the one connection that writes; `inPlace` throws when the file is not in its place. */
export function watchWrites(database: Database, inPlace: () => void): WatchedWrites {
  const metadata = createMetadata(database);
  const checkpoints = createCheckpoints(database);
  const totalChanges = database.prepare("SELECT total_changes()").pluck();
  const atOnce = atomic(database, (group: () => unknown) => group());
  /** The newest change that was lost. */
  let lost: LostChange | null = null;
  /** Whether the group that runs has written such a value. */
  let proves = false;

  /** Whether a change was lost for want of room, and there is still none: that a small one fits says nothing of the next delivery. */
  function lacksRoom({ cause }: AppError): boolean {
    try {
      return isFull(cause) && freeBytes(database.name) < ROOM_BYTES;
    } catch {
      // The file was moved, which the check says; what is committed stays so.
      return false;
    }
  }

  /** Whether what has been written now shows that no such change would be lost any more. */
  function isOver({ error, changes }: LostChange): boolean {
    // A change elsewhere in the file says nothing of the damaged page.
    if (isDamage(error.cause)) return false;
    if (isRefused(error.cause)) return proves;
    return totalChanges.get() !== changes && !lacksRoom(error);
  }

  const noteCheck = () => metadata.set(CHECK, new Date().toISOString());

  /** Takes the proof away again. Where that fails, the next one takes its place. */
  function forgetProof(): void {
    try {
      noteCheck();
    } catch {
      // The next change says what is wrong.
    }
  }

  return {
    run(group) {
      proves = false;
      try {
        checkpoints.tend(lost !== null && (isFull(lost.error.cause) || isRefused(lost.error.cause)));
        const result = guarded(() => atOnce(group) as ReturnType<typeof group>);
        if (lost && isOver(lost)) lost = null;
        if (proves) forgetProof();
        return result;
      } catch (error) {
        if (error instanceof AppError && error.code === "store_unavailable")
          lost = { error, changes: totalChanges.get() };
        throw error;
      }
    },
    check() {
      inPlace();
      if (!lost) return;
      if (isDamage(lost.error.cause) || lacksRoom(lost.error)) throw lost.error;
      if (isRefused(lost.error.cause)) {
        metadata.set(CHECK, "x".repeat(ROOM_BYTES));
        proves = true;
      } else noteCheck();
    },
  };
}

function isFull(cause: unknown): boolean {
  return cause instanceof Error && systemCode(cause) === "SQLITE_FULL";
}

/** Whether the system took no more bytes: because of a quota, or a limit on files, neither of which shows in the free space. */
function isRefused(cause: unknown): boolean {
  return cause instanceof Error && /^SQLITE_IOERR_(?:WRITE|FSYNC)$/.test(systemCode(cause));
}

// The log may take a quarter of what is free: a checkpoint writes each of its pages once more.
const SHARE_OF_FREE = 4;
const FEWEST_PAGES = 64;

const LOOK_EVERY_MS = 1000;

/** Keeps the write-ahead log small against the space that is left. Without that it fills a small disk by itself. */
interface Checkpoints {
  /** To be called before a transaction; `isFull` when the one before found no room. */
  tend(isFull: boolean): void;
}

/** Tends the log of the one connection that writes. */
function createCheckpoints(database: Database): Checkpoints {
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
