import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { DATABASE_FILE, type Database, openDatabase } from "../../src/sqlite/database.ts";
import { APPLICATION_ID } from "../../src/sqlite/maintenance/inspect.ts";
import { MIGRATIONS } from "../../src/sqlite/schema.ts";
import { type Cleanup, tempDir } from "./temp-dir.ts";

/** A new database in a directory of its own; both go when the test ends. */
export function tempDatabase(
  context: Cleanup,
  options?: { busyTimeoutMs?: number },
): { database: Database; dataDir: string } {
  // Declared first: callbacks run in order, and the file must be closed before it is removed.
  let database: Database | undefined;
  context.after(() => void database?.close());
  const dataDir = tempDir(context);
  database = openDatabase(dataDir, options);
  return { database, dataDir };
}

/** A data directory as the version with this many steps has left it. */
export function dataDirOf(context: Cleanup, steps: number): string {
  const dataDir = tempDir(context);
  const database = new Sqlite(join(dataDir, DATABASE_FILE));
  // A step may write to the schema itself.
  database.unsafeMode(true);
  for (const step of MIGRATIONS.slice(0, steps)) database.exec(step);
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${steps}`);
  database.close();
  return dataDir;
}

/** Whether a process holds SQLite's lock on the database, which keeps other programs from taking its log away. */
export function isLocked(dataDir: string, pid = process.pid): boolean {
  const { ino } = statSync(join(dataDir, DATABASE_FILE));
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return locks.some((line) => new RegExp(`POSIX.* READ +${pid} [0-9a-f:]+:${ino} `).test(line));
}
