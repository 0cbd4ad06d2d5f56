import { statSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { describeError, systemCode } from "../../errors.ts";
import { UNREADABLE } from "../events-sql.ts";
import { openToRead } from "../read-only.ts";
import { RECORDED_STEPS } from "../schema.ts";

/** "auth" as bytes: marks a database as ours (`PRAGMA application_id`). */
export const APPLICATION_ID = 0x61757468;

/** The result of inspecting a database file. */
export interface Inspection {
  /** Also true for a database without tables. */
  isOurs: boolean;
  /** Number of its last migration. */
  schema: number;
  /** Its steps as it keeps them, see storage/schema-steps.ts; none if it is from before they were kept. */
  steps: readonly string[];
  /** Uses a write-ahead log (WAL). A live database does, a backup does not. */
  inWalMode: boolean;
  /** Faults that SQLite finds in the pages, a few lines at most. */
  damage: string[];
}

/** Whether SQLite refuses a file because of its content. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(systemCode(error));
}

/** Whether SQLite failed because another program holds a lock (`SQLITE_BUSY`). */
export function isBusy(error: unknown): boolean {
  return systemCode(error).startsWith("SQLITE_BUSY");
}

/** Describes {@link isBusy} as a part of a sentence. */
export const BUSY = "another program holds its lock";

/**
 * Whether a WAL has content while its database is missing or empty. It may hold every event of a young database.
 * SQLite deletes such a WAL when it opens the database, even to read.
 */
export function hasOnlyWal(file: string): boolean {
  return sizeOf(file) === 0 && sizeOf(`${file}-wal`) > 0;
}

/** The size of a file in bytes, 0 when it is missing. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

// Codes of a file that cannot be read now, e.g. because the `-shm` file does not fit on the disk. None means damage.
const NO_DAMAGE =
  /^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH|BUSY|LOCKED|FULL|NOMEM|IOERR_(?:SHM|WRITE|TRUNCATE|FSYNC|NOMEM))/;

/**
 * Checks a whole database file. With `whole` it also compares indexes with their tables, which takes longer.
 * Throws SQLite's error when the file cannot be opened.
 */
export function inspectDatabase(file: string, { whole = false } = {}): Inspection {
  let database: Sqlite.Database | undefined;
  try {
    database = openToRead(file);
    const found = database.pragma(whole ? "integrity_check(3)" : "quick_check(3)") as Record<string, string>[];
    const lines = found.flatMap((row) => Object.values(row)).flatMap((text) => text.split("\n"));
    const applicationId = database.pragma("application_id", { simple: true });
    const isEmpty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
    const damage = lines.filter((line) => line !== "ok" && !line.startsWith("***"));
    return {
      isOurs: applicationId === APPLICATION_ID || (applicationId === 0 && isEmpty),
      schema: database.pragma("user_version", { simple: true }) as number,
      inWalMode: database.pragma("journal_mode", { simple: true }) === "wal",
      steps: damage.length > 0 || applicationId !== APPLICATION_ID ? [] : readSteps(database),
      damage,
    };
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError) || NO_DAMAGE.test(error.code)) throw error;
    return { isOurs: false, schema: 0, steps: [], inWalMode: false, damage: [describeError(error)] };
  } finally {
    database?.close();
  }
}

/** Whether a database has a table. That of an older version may lack it. */
export const hasTable = (database: Sqlite.Database, name: string) =>
  database.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;

/** The steps that a database of ours keeps; none if it is empty, or from before they were kept. */
export function readSteps(database: Sqlite.Database): readonly string[] {
  const recorded = hasTable(database, "metadata")
    ? database.prepare<[], string>(RECORDED_STEPS).pluck().get()
    : undefined;
  return recorded === undefined ? [] : JSON.parse(recorded as string);
}

/** When the newest event was received. Null if there is none. */
export function readNewest(database: Sqlite.Database): number | null {
  const newest = database.prepare<[], number>("SELECT received_at FROM events ORDER BY id DESC LIMIT 1").pluck();
  return (newest.get() as number | undefined) ?? null;
}

/** When the newest event of a database file of this version came, and how many jobs have unreadable events. */
export function readEventFacts(file: string): { newestAt: number | null; unreadable: number } {
  const database = openToRead(file);
  try {
    const unreadable = database.prepare(UNREADABLE).pluck();
    return { newestAt: readNewest(database), unreadable: unreadable.get() as number };
  } finally {
    database.close();
  }
}
