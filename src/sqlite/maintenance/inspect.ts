import { statSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { describeError, systemCode } from "../../errors.ts";
import { UNREADABLE } from "../events-sql.ts";

/** "auth", as bytes: marks a file as ours (`PRAGMA application_id`). */
export const APPLICATION_ID = 0x61757468;

/** What a database file is, found without changing it. */
export interface Inspection {
  /** Also of a file that nobody has made a table in. */
  isOurs: boolean;
  /** Number of its last migration. */
  schema: number;
  /** Has a write-ahead log (WAL), as what a server writes to; a backup has none. */
  inWalMode: boolean;
  /** What SQLite finds wrong with its pages, a few lines at most; empty when nothing. */
  damage: string[];
}

/** Whether SQLite refuses a file for what is in it. */
export function isDamage(error: unknown): boolean {
  return /^SQLITE_(?:CORRUPT|NOTADB)/.test(systemCode(error));
}

/** Whether another program has a lock that keeps this one out. */
export function isHeld(error: unknown): boolean {
  return systemCode(error).startsWith("SQLITE_BUSY");
}

/** What that means, as a part of a sentence. */
export const HELD = "another program holds its lock";

/**
 * Whether a database is missing or empty while its log (WAL) is there, which may hold every event of a young one. SQLite
 * removes such a log as soon as it opens the database, even to read.
 */
export function isLogAlone(file: string): boolean {
  return sizeOf(file) === 0 && sizeOf(`${file}-wal`) > 0;
}

/** In bytes; 0 where nothing is. */
export function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

// Codes of a file that cannot be read now, e.g. for want of room for the `-shm` beside it: nothing about damage.
const NO_DAMAGE =
  /^SQLITE_(?:CANTOPEN|READONLY|PERM|AUTH|BUSY|LOCKED|FULL|NOMEM|IOERR_(?:SHM|WRITE|TRUNCATE|FSYNC|NOMEM))/;

/**
 * Reads a database file from end to end. With `whole`, indexes are compared with their tables too, which takes longer.
 * Throws SQLite's error when the file cannot be opened.
 */
export function inspectDatabase(file: string, { whole = false } = {}): Inspection {
  let database: Sqlite.Database | undefined;
  try {
    database = new Sqlite(file, { readonly: true, fileMustExist: true });
    const found = database.pragma(whole ? "integrity_check(3)" : "quick_check(3)") as Record<string, string>[];
    const lines = found.flatMap((row) => Object.values(row)).flatMap((text) => text.split("\n"));
    const applicationId = database.pragma("application_id", { simple: true });
    const isEmpty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
    return {
      isOurs: applicationId === APPLICATION_ID || (applicationId === 0 && isEmpty),
      schema: database.pragma("user_version", { simple: true }) as number,
      inWalMode: database.pragma("journal_mode", { simple: true }) === "wal",
      damage: lines.filter((line) => line !== "ok" && !line.startsWith("***")),
    };
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError) || NO_DAMAGE.test(error.code)) throw error;
    return { isOurs: false, schema: 0, inWalMode: false, damage: [describeError(error)] };
  } finally {
    database?.close();
  }
}

/** What the events of a database say of it. */
export interface EventFacts {
  /** When the newest came, in Unix milliseconds. */
  newestAt: number | null;
  /** How many jobs were set aside because their events cannot be read. */
  unreadable: number;
}

/** Reads the events of a database file of this version. */
export function readEventFacts(file: string): EventFacts {
  const database = new Sqlite(file, { readonly: true, fileMustExist: true });
  try {
    const newest = database.prepare("SELECT received_at FROM events ORDER BY id DESC LIMIT 1").pluck();
    const unreadable = database.prepare(UNREADABLE).pluck();
    return { newestAt: (newest.get() as number | undefined) ?? null, unreadable: unreadable.get() as number };
  } finally {
    database.close();
  }
}
