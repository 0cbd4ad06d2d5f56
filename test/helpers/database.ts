import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILE, type Database, openDatabase } from "../../src/sqlite/database.ts";
import { type Cleanup, tempDir } from "./temp-dir.ts";

/** A new database in its own directory. Both are removed when the test ends. */
export function tempDatabase(
  context: Cleanup,
  options?: { busyTimeoutMs?: number },
): { database: Database; dataDir: string } {
  // Registered first: callbacks run in order, and the file must be closed before it is removed.
  let database: Database | undefined;
  context.after(() => void database?.close());
  const dataDir = tempDir(context);
  database = openDatabase(dataDir, options);
  return { database, dataDir };
}

/**
 * Whether a process holds SQLite's lock on the database. Without it, other programs could remove the write-ahead log.
 */
export function isLocked(dataDir: string, pid = process.pid): boolean {
  const { ino } = statSync(join(dataDir, DATABASE_FILE));
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return locks.some((line) => new RegExp(`POSIX.* READ +${pid} [0-9a-f:]+:${ino} `).test(line));
}
