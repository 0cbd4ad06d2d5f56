import { randomUUID } from "node:crypto";
import { accessSync, type BigIntStats, chmodSync, closeSync, constants, openSync, rmSync, statSync } from "node:fs";
import { join, resolve } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, exitCodeOf, OperatorError, SettingsError, systemCode } from "../errors.ts";
import { fileId, isInPlace, makeDir } from "../lib/files.ts";
import { isBusy, isDamage } from "./maintenance/inspect.ts";

/** The lock file that a server holds, in the data directory. */
export const LOCK_FILE = "serve.lock";

/** Creates a missing data directory (mode 0700). Throws {@link OperatorError} when it cannot be written. */
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

export const ALREADY_SERVED = "Another authserve uses this DATA_DIR: stop it, or name another DATA_DIR";

// `authserve doctor` takes the lock briefly to see whether it is free.
const LOCK_TIMEOUT_MS = 200;

/**
 * Locks the data directory for one server and returns the function that unlocks it. The operating system holds the
 * lock, so a killed process leaves none. Throws {@link AlreadyServedError}, {@link SettingsError} when the lock file is
 * something else, or {@link OperatorError} when it cannot be written.
 */
export function lockDataDir(dataDir: string): () => void {
  const lock = openLock(dataDir);
  return () => lock.close();
}

/** A server's lock on its data directory. */
export interface DirLock {
  /**
   * Locks the directory again if its lock file was removed or replaced, and returns whether it did. Throws what
   * {@link lockDataDir} throws, e.g. when another server was faster.
   */
  renew(): boolean;
  release(): void;
}

/** {@link lockDataDir} for a server, which holds the directory for as long as it runs. */
export function lockForServer(dataDir: string): DirLock {
  const path = join(dataDir, LOCK_FILE);
  let lock = openLock(dataDir);
  let file = fileId(path);
  return {
    renew() {
      if (isInPlace(path, file)) return false;
      const next = openLock(dataDir);
      lock.close();
      lock = next;
      file = fileId(path);
      return true;
    },
    release: () => void lock.close(),
  };
}

function openLock(dataDir: string): Sqlite.Database {
  prepareDataDir(dataDir);
  const file = join(dataDir, LOCK_FILE);
  if (isNotAFile(file)) throw notALock();
  let lock: Sqlite.Database | undefined;
  try {
    lock = new Sqlite(file, { timeout: LOCK_TIMEOUT_MS });
    // SQLite opens a read-only file too, and its lock then excludes nobody.
    accessSync(file, constants.W_OK);
    closeToOthers(file);
    lock.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    lock?.close();
    if (systemCode(error) === "SQLITE_BUSY") {
      throw new AlreadyServedError(ALREADY_SERVED);
    }
    // The SQLite add-on could not be loaded, and its error says why.
    if (error instanceof OperatorError) throw error;
    if (isDamage(error) || isNotAFile(file)) throw notALock();
    const cause = causeOf(error, dataDir);
    throw new OperatorError(
      `DATA_DIR cannot be written (${describeError(cause)}): ${remedyOfUnwritable(file)}`,
      exitCodeOf(cause),
    );
  }
  return lock;
}

/** What to do when a file in a directory cannot be written. Names the owner of either, if that is why. */
export function remedyOfUnwritable(file: string): string {
  const dir = resolve(file, "..");
  const user = process.geteuid?.();
  const foreign = [dir, file, `${file}-wal`, `${file}-shm`].find((path) => isForeign(path, user));
  if (foreign === undefined) return "name a directory on a disk with space that this user can write";
  const owner = statSync(foreign).uid;
  return `${foreign} belongs to user ${owner}, and authserve runs as user ${user}; run chown -R ${user} ${dir} as root`;
}

/** Whether a path is there, belongs to another user, and cannot be written by this one. */
function isForeign(path: string, user: number | undefined): boolean {
  try {
    if (statSync(path).uid === user) return false;
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    return systemCode(error) === "EACCES" && statSync(path, { throwIfNoEntry: false }) !== undefined;
  }
}

/** Who may read the lock file could lock it, and no server would start. A file of another user stays as it is. */
function closeToOthers(file: string): void {
  try {
    chmodSync(file, 0o600);
  } catch (error) {
    if (systemCode(error) !== "EPERM") throw error;
  }
}

/** Whether a server or a restore holds the data directory. Answers at once. False where this user may not look. */
export function isLockHeld(dataDir: string): boolean {
  let lock: Sqlite.Database | undefined;
  try {
    lock = new Sqlite(join(dataDir, LOCK_FILE), { readonly: true, fileMustExist: true, timeout: 0 });
    lock.prepare("SELECT count(*) FROM sqlite_schema").get();
    return false;
  } catch (error) {
    return isBusy(error);
  } finally {
    lock?.close();
  }
}

// SQLite creates at most these beside a database: the WAL, its index and a journal.
const MAX_FILES_BESIDE = 3;

/**
 * The cause of a SQLite error. When the file system has free space but no free inodes, SQLite only says that it cannot
 * open a file; creating files shows the reason.
 */
export function causeOf(error: unknown, dir: string): unknown {
  if (!systemCode(error).startsWith("SQLITE_CANTOPEN")) return error;
  const made: string[] = [];
  try {
    while (made.length < MAX_FILES_BESIDE) {
      const file = join(dir, `.new-${randomUUID()}`);
      closeSync(openSync(file, "wx", 0o600));
      made.push(file);
    }
    return error;
  } catch (refusal) {
    if (exitCodeOf(refusal) === 2) return error;
    return Object.assign(new Error("the file system has no room for another file"), { code: systemCode(refusal) });
  } finally {
    for (const file of made) rmSync(file);
  }
}

function notALock(): SettingsError {
  return new SettingsError([{ found: `DATA_DIR/${LOCK_FILE} is not a server's lock file`, remedy: "remove it" }]);
}

/** Whether the path is something other than a regular file. False where nothing is, or where this user may not look. */
function isNotAFile(path: string): boolean {
  return statOf(path)?.isFile() === false;
}

/** Undefined where nothing is, or where this user may not look. */
function statOf(path: string): BigIntStats | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}
