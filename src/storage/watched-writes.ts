import { AppError } from "../errors.ts";
import { type Database, guarded } from "../sqlite/database.ts";
import { isDamage } from "../sqlite/inspect.ts";
import { createMetadata } from "../sqlite/metadata.ts";

/** Transactions whose failure is remembered: a full disk goes on answering what is only read. */
export interface WatchedWrites {
  /** Runs a function as one transaction. Throws `store_unavailable` when SQLite fails, and then nothing has changed. */
  run<T>(group: () => T): T;
  /** Inside of {@link run}: when the newest change was lost, fails as that did or tries another one. */
  check(): void;
}

/** Watches the transactions of the one connection that writes. */
export function watchWrites(database: Database): WatchedWrites {
  const metadata = createMetadata(database);
  const totalChanges = database.prepare("SELECT total_changes()").pluck();
  /** Why the newest change was lost, and how many were made until then. */
  let lost: { error: AppError; changes: unknown } | null = null;

  return {
    run(group) {
      try {
        const result = guarded(() => database.transaction(group).immediate());
        if (lost && totalChanges.get() !== lost.changes) lost = null;
        return result;
      } catch (error) {
        if (error instanceof AppError && error.code === "store_unavailable")
          lost = { error, changes: totalChanges.get() };
        throw error;
      }
    },
    check() {
      if (!lost) return;
      // A change elsewhere in the file would say nothing of the damaged page.
      if (isDamage(lost.error.cause)) throw lost.error;
      metadata.set("last_write_check", new Date().toISOString());
    },
  };
}
