import { closeSync, copyFileSync, existsSync, mkdtempSync, openSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, OperatorError, systemCode } from "../errors.ts";

/**
 * Whether a file is on a read-only disk. A system makes a disk read-only after errors, and `access` may then still call
 * it writable. Not for a file that this process has open as a database: closing it ends all locks of the process on it
 * (POSIX).
 */
export function isDiskReadOnly(file: string): boolean {
  try {
    closeSync(openSync(file, "r+"));
    return false;
  } catch (error) {
    return systemCode(error) === "EROFS";
  }
}

/** Opens a database file to read it, also on a read-only disk. Throws SQLite's error, or {@link OperatorError}. */
export function openToRead(file: string, timeoutMs = 5000): Sqlite.Database {
  const mayLackLog = isDiskReadOnly(file);
  let database: Sqlite.Database | undefined;
  try {
    database = new Sqlite(file, { readonly: true, fileMustExist: true, timeout: timeoutMs });
    if (mayLackLog) database.prepare("SELECT count(*) FROM sqlite_schema").get();
    return database;
  } catch (error) {
    database?.close();
    if (mayLackLog && lacksLog(error)) return openCopy(file);
    throw error;
  }
}

/** SQLite cannot create the log and its index on a read-only disk. They are missing when a server has stopped. */
function lacksLog(error: unknown): boolean {
  return /^SQLITE_(?:CANTOPEN|READONLY)/.test(systemCode(error));
}

/** Opens a copy, which nobody else sees and which is gone when this process ends. */
function openCopy(file: string): Sqlite.Database {
  let folder: string | undefined;
  let database: Sqlite.Database | undefined;
  try {
    folder = mkdtempSync(join(tmpdir(), "authserve-"));
    const copy = join(folder, basename(file));
    for (const end of ["", "-wal"]) if (existsSync(file + end)) copyFileSync(file + end, copy + end);
    database = new Sqlite(copy, { fileMustExist: true });
    // Moves the log into the copy, which is then one open file without a name.
    database.pragma("journal_mode = DELETE");
    database.pragma("query_only = ON");
    return database;
  } catch (error) {
    database?.close();
    const found = `The database is on a read-only disk, and cannot be copied to ${tmpdir()} to read it (${describeError(error)})`;
    throw new OperatorError({ found, remedy: "make space there, or set TMPDIR to a folder on another disk" }, 1);
  } finally {
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  }
}
