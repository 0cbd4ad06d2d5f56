import { randomUUID } from "node:crypto";
import { accessSync, type BigIntStats, closeSync, constants, openSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, exitCodeOf, OperatorError, SettingsError, systemCode } from "../errors.ts";
import { makeDir } from "../lib/files.ts";
import { isDamage, isHeld } from "./maintenance/inspect.ts";

/** The lock that a server holds, in the data directory. */
export const LOCK_FILE = "serve.lock";

/** Makes the data directory (mode 0700) when it is missing. Throws {@link OperatorError} when it cannot be written. */
export function prepareDataDir(dataDir: string): void {
  try {
    makeDir(resolve(dataDir));
  } catch (error) {
    throw new OperatorError(
      `DATA_DIR cannot be created (${systemCode(error)}): name a directory that this user can write`,
      exitCodeOf(error),
    );
  }
}

/** Another server holds the data directory. */
export class AlreadyServedError extends OperatorError {}

// `authserve doctor` takes the lock for a moment to see whether it is free.
const LOCK_TIMEOUT_MS = 200;

/**
 * Takes the data directory for one server. The lock is the operating system's, so a killed process leaves none behind.
 * Returns its release. Throws {@link AlreadyServedError}, {@link SettingsError} when something else is in the lock's place,
 * or {@link OperatorError} when it cannot be written.
 */
export function lockDataDir(dataDir: string): () => void {
  prepareDataDir(dataDir);
  const file = join(dataDir, LOCK_FILE);
  if (isNoFile(file)) throw noLock();
  let lock: Sqlite.Database | undefined;
  try {
    lock = new Sqlite(file, { timeout: LOCK_TIMEOUT_MS });
    // A lock that may only be read locks nothing out.
    accessSync(file, constants.W_OK);
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (systemCode(error) === "SQLITE_BUSY") {
      throw new AlreadyServedError("Another authserve serves this DATA_DIR: stop it, or name another DATA_DIR");
    }
    // The add-on that SQLite is in has said what it lacks.
    if (error instanceof OperatorError) throw error;
    if (isDamage(error) || isNoFile(file)) throw noLock();
    const cause = causeOf(error, dataDir);
    throw new OperatorError(
      `DATA_DIR cannot be written (${describeError(cause)}): name a directory on a disk with space that this user can write`,
      exitCodeOf(cause),
    );
  }
  return () => lock.close();
}

/** Whether a server, or a restore, holds the data directory, as far as this user may look. Told at once, also when one does. */
export function isLockHeld(dataDir: string): boolean {
  let lock: Sqlite.Database | undefined;
  try {
    lock = new Sqlite(join(dataDir, LOCK_FILE), { readonly: true, fileMustExist: true, timeout: 0 });
    lock.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return isHeld(error);
  } finally {
    lock?.close();
  }
}

// The log, its index and a journal: as many may SQLite put beside a database.
const FILES_BESIDE = 3;

/**
 * The cause of an error of SQLite's, which says only that it cannot open a file when the file system takes no more files:
 * it may have room left, and no inode.
 */
export function causeOf(error: unknown, dir: string): unknown {
  if (!systemCode(error).startsWith("SQLITE_CANTOPEN")) return error;
  const made: string[] = [];
  try {
    while (made.length < FILES_BESIDE) {
      const file = join(dir, `.new-${randomUUID()}`);
      closeSync(openSync(file, "wx", 0o600));
      made.push(file);
    }
    return error;
  } catch (refusal) {
    if (exitCodeOf(refusal) === 2) return error;
    return Object.assign(new Error("the file system takes no more files"), { code: systemCode(refusal) });
  } finally {
    for (const file of made) rmSync(file);
  }
}

function noLock(): SettingsError {
  return new SettingsError([{ found: `DATA_DIR/${LOCK_FILE} is not the lock of a server`, remedy: "remove it" }]);
}

/** Whether something other than a plain file is there, as far as this user may look. */
function isNoFile(path: string): boolean {
  return statOf(path)?.isFile() === false;
}

/** Undefined where nothing is, and where this user may not look. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
