import { AppError, systemCode } from "../errors.ts";
import { diskSpace, freeBytes, leastFreeBytes } from "../lib/files.ts";
import { atomic, CHECKPOINT_PAGES, type Database, translateErrors } from "./database.ts";
import { emptyLog } from "./empty-log.ts";
import { isDamage, sizeOf } from "./maintenance/inspect.ts";
import { createMetadata } from "./metadata.ts";
import type { Reserve } from "./reserve.ts";

/** Runs transactions and remembers a failed one. Reads succeed on a full disk, so they cannot show the failure. */
interface MonitoredWrites {
  /** Runs a function as one transaction. Throws `store_unavailable` when SQLite fails, and then nothing has changed. */
  run<T>(group: () => T): T;
  /**
   * Called inside {@link run} before deliveries of this size are stored. Throws `intake_paused` below `MIN_FREE_DISK`,
   * which the admission notices only within a second. Throws `store_unavailable` unless the disk also has room for a
   * checkpoint of the write-ahead log. On a disk that is full to the last byte no checkpoint succeeds, so nothing could
   * be removed from the database any more.
   */
  requireRoom(bytes: number): void;
  /**
   * Called inside {@link run}. Throws when the file is not in its place. After a lost change, throws its error again
   * while the disk is full or after damage, or else makes a test write.
   */
  check(): void;
  /**
   * Called from time to time, outside of {@link run}. If little has been written since the last call, it moves the
   * write-ahead log into the database. Only then does the space of removed events return to the disk.
   */
  idle(): void;
}

// The next delivery may be this large.
const MIN_FREE_BYTES = 1024 * 1024;

/** The metadata key of a test write: the time, or {@link MIN_FREE_BYTES} of text that prove there is room. */
const TEST_WRITE = "last_write_check";

interface LostChange {
  error: AppError;
  /** SQLite's count of changes at that time. */
  changes: number;
}

interface WriteOptions {
  /** Throws when a file of the database is not in its place. */
  inPlace(): void;
  /** `MIN_FREE_DISK`; undefined for the default. */
  minFreeBytes: number | undefined;
  /** Kept while the disk has room for it. */
  reserve?: Pick<Reserve, "keep">;
}

/** Monitors the transactions of the writing connection. */
export function monitorWrites(database: Database, { inPlace, minFreeBytes, reserve }: WriteOptions): MonitoredWrites {
  const metadata = createMetadata(database);
  const countChanges = database.prepare<[], number>("SELECT total_changes()").pluck();
  const totalChanges = () => countChanges.get() as number;
  const checkpoints = createCheckpoints(database, totalChanges, minFreeBytes, reserve);
  const inTransaction = atomic(database, (group: () => unknown) => group());
  /** The newest change that was lost. */
  let lost: LostChange | null = null;
  /** Whether the running transaction has written a large test value. */
  let hasTestValue = false;

  /** Whether a change failed on a full disk that is still full. A small change that fits does not disprove this. */
  function isStillFull({ cause }: AppError): boolean {
    try {
      return isFull(cause) && freeBytes(database.name) < MIN_FREE_BYTES;
    } catch {
      // The file was moved. `inPlace` reports that.
      return false;
    }
  }

  /** Whether the changes made now prove that the cause of the lost change is gone. */
  function isResolved({ error, changes }: LostChange): boolean {
    // A change elsewhere in the file proves nothing about the damaged page.
    if (isDamage(error.cause)) return false;
    if (isRefused(error.cause)) return hasTestValue;
    return totalChanges() !== changes && !isStillFull(error);
  }

  const writeTime = () => metadata.set(TEST_WRITE, new Date().toISOString());

  /** Replaces the large test value. If that fails, the next test write does so. */
  function removeTestValue(): void {
    try {
      writeTime();
    } catch {
      // The next change reports the error.
    }
  }

  return {
    run(group) {
      hasTestValue = false;
      try {
        checkpoints.adjust(lost !== null && (isFull(lost.error.cause) || isRefused(lost.error.cause)));
        const result = translateErrors(() => inTransaction(group) as ReturnType<typeof group>);
        if (lost && isResolved(lost)) lost = null;
        if (hasTestValue) removeTestValue();
        return result;
      } catch (error) {
        if (error instanceof AppError && error.code === "store_unavailable") lost = { error, changes: totalChanges() };
        throw error;
      }
    },
    requireRoom: checkpoints.requireRoom,
    idle: checkpoints.idle,
    check() {
      inPlace();
      if (!lost) return;
      if (isDamage(lost.error.cause) || isStillFull(lost.error)) throw lost.error;
      if (isRefused(lost.error.cause)) {
        metadata.set(TEST_WRITE, "x".repeat(MIN_FREE_BYTES));
        hasTestValue = true;
      } else writeTime();
    },
  };
}

function isFull(cause: unknown): boolean {
  return cause instanceof Error && systemCode(cause) === "SQLITE_FULL";
}

/** Whether the system refused a write: a quota or a file size limit, which the free space does not show. */
function isRefused(cause: unknown): boolean {
  return cause instanceof Error && /^SQLITE_IOERR_(?:WRITE|FSYNC)$/.test(systemCode(cause));
}

// The WAL may take a quarter of the free space, because a checkpoint writes each of its pages again.
const SHARE_OF_FREE = 4;
const MIN_PAGES = 64;

const ADJUST_EVERY_MS = 1000;

/** Limits the write-ahead log to a share of the free space. Otherwise it can fill a small disk by itself. */
interface Checkpoints extends Pick<MonitoredWrites, "requireRoom" | "idle"> {
  /** Call before each transaction. `isFull` means that an earlier one found no room. */
  adjust(isFull: boolean): void;
}

// With more free space than this a second ago there is room for any delivery.
const AMPLE_BYTES = 1024 ** 3;
// Heartbeats and other work of a server without deliveries change fewer rows between two calls of `idle`.
const QUIET_CHANGES = 100;
// What a delivery adds besides its bytes.
const OVERHEAD_BYTES = 64 * 1024;

function createCheckpoints(
  database: Database,
  totalChanges: () => number,
  minFreeBytes: number | undefined,
  reserve: WriteOptions["reserve"],
): Checkpoints {
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  let pages = CHECKPOINT_PAGES;
  let adjustedAt = Number.NEGATIVE_INFINITY;
  let lastFree = 0;
  let lastChanges = 0;
  let leastFree = 0;

  /** A delivery is written to the log first. The next checkpoint may add the whole log to the database. */
  const hasRoom = (bytes: number) =>
    freeBytes(database.name) >= sizeOf(`${database.name}-wal`) + 2 * (bytes + OVERHEAD_BYTES);

  function limitLog(): void {
    reserve?.keep();
    const space = diskSpace(database.name);
    lastFree = space.freeBytes;
    leastFree = leastFreeBytes(minFreeBytes, space.sizeBytes);
    const fitting = Math.floor(lastFree / SHARE_OF_FREE / pageSize);
    const wanted = Math.max(MIN_PAGES, Math.min(fitting, CHECKPOINT_PAGES));
    if (wanted !== pages) database.pragma(`wal_autocheckpoint = ${wanted}`);
    pages = wanted;
  }

  return {
    requireRoom(bytes) {
      if (lastFree > AMPLE_BYTES + leastFree) return;
      if (freeBytes(database.name) < leastFree) throw new AppError("intake_paused", { retryAfterSeconds: 60 });
      if (hasRoom(bytes)) return;
      const cause = Object.assign(new Error("the disk has no room for the delivery"), { code: "SQLITE_FULL" });
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause });
    },
    idle() {
      const changes = totalChanges();
      if (changes - lastChanges < QUIET_CHANGES && sizeOf(`${database.name}-wal`) > 0) emptyLog(database);
      lastChanges = changes;
    },
    adjust(isFull) {
      const now = performance.now();
      const isDue = now - adjustedAt >= ADJUST_EVERY_MS;
      if (!isDue && lastFree > AMPLE_BYTES) return;
      try {
        if (isDue) {
          adjustedAt = now;
          limitLog();
        }
        // With room for a delivery of usual size, not only for an empty one, which would then be refused.
        if ((isFull && isDue) || !hasRoom(OVERHEAD_BYTES)) emptyLog(database);
      } catch {
        // The transaction that follows reports the error.
      }
    },
  };
}
