import { type BigIntStats, statfsSync, statSync } from "node:fs";
import { AppError } from "../errors.ts";
import { type Database, guarded } from "../sqlite/database.ts";
import { isDamage } from "../sqlite/inspect.ts";
import { createMetadata } from "../sqlite/metadata.ts";

/** Transactions whose failure is remembered: a full disk goes on answering what is only read. */
export interface WatchedWrites {
  /**
   * Runs a function as one transaction. Throws `store_unavailable` when SQLite fails, or the file is not in its place any
   * more; then nothing has changed.
   */
  run<T>(group: () => T): T;
  /**
   * Inside of {@link run}: fails when the file is not in its place. When the newest change was lost, fails as that did
   * while there is no room, or tries another one.
   */
  check(): void;
}

// A change is lost to a full disk long before the last byte is taken: the next delivery may be as large as this.
const ROOM_BYTES = 1024 * 1024;

/** Watches the transactions of the one connection that writes. */
export function watchWrites(database: Database): WatchedWrites {
  const opened = statSync(database.name, { bigint: true });
  const metadata = createMetadata(database);
  const totalChanges = database.prepare("SELECT total_changes()").pluck();
  /** Why the newest change was lost, and how many were made until then. */
  let lost: { error: AppError; changes: unknown } | null = null;

  /** SQLite goes on writing to a file that was removed, and nobody would find what it holds. */
  function assertInPlace(): void {
    if (isSame(opened, statOf(database.name))) return;
    const cause = new Error("DATA_DIR holds another database now, or none: start the server again");
    throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause });
  }

  return {
    run(group) {
      try {
        const before = totalChanges.get();
        const result = guarded(() =>
          database
            .transaction(() => {
              const result = group();
              if (totalChanges.get() !== before) assertInPlace();
              return result;
            })
            .immediate(),
        );
        if (lost && totalChanges.get() !== lost.changes) lost = null;
        return result;
      } catch (error) {
        if (error instanceof AppError && error.code === "store_unavailable")
          lost = { error, changes: totalChanges.get() };
        throw error;
      }
    },
    check() {
      assertInPlace();
      if (!lost) return;
      // A change elsewhere in the file would say nothing of the damaged page.
      if (isDamage(lost.error.cause) || !hasRoom(database.name)) throw lost.error;
      metadata.set("last_write_check", new Date().toISOString());
    },
  };
}

function statOf(file: string): BigIntStats | undefined {
  try {
    return statSync(file, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function isSame(one: BigIntStats, other: BigIntStats | undefined): boolean {
  return one.ino === other?.ino && one.dev === other.dev;
}

function hasRoom(file: string): boolean {
  const { bavail, bsize } = statfsSync(file);
  return bavail * bsize >= ROOM_BYTES;
}
