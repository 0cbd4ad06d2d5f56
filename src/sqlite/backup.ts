import {
  chmodSync,
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, OperatorError } from "../errors.ts";
import { DATABASE_FILE, type Database } from "./database.ts";
import { inspectDatabase } from "./inspect.ts";
import { MIGRATIONS } from "./migrations.ts";

/** Told after each step how many pages are copied, of how many. */
export type Progress = (copied: number, total: number) => void;

const PAGES_PER_STEP = 2000;

/**
 * Copies an open database to `file` as it stands at this moment, while others write to it. The file has mode 0600 and
 * appears under its name when it is whole, checked and on disk. Returns its size in bytes.
 */
export async function backUp(database: Database, file: string, onProgress: Progress): Promise<number> {
  refuseTarget(database, file);
  const half = `${file}.${process.pid}.partial`;
  try {
    closeSync(openSync(half, "wx", 0o600));
  } catch (error) {
    throw new OperatorError(`${file} cannot be written (${describeError(error)}): name a file in a folder of yours`, 1);
  }
  try {
    // A snapshot: without it every commit of a server would start the copy again.
    database.exec("BEGIN; SELECT count(*) FROM metadata");
    try {
      const { totalPages } = await database.backup(half, {
        progress({ totalPages, remainingPages }) {
          onProgress(totalPages - remainingPages, totalPages);
          return PAGES_PER_STEP;
        },
      });
      onProgress(totalPages, totalPages);
    } finally {
      database.exec("COMMIT");
    }
    asOneFile(half);
    const { damage } = inspectDatabase(half);
    if (damage.length > 0) {
      throw new OperatorError(`The database is damaged (${damage[0]}): no backup was written; see authserve doctor`, 1);
    }
    flush(half);
    renameSync(half, file);
    flush(dirname(file));
  } catch (error) {
    discard(half);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${file} was not written (${describeError(error)}): is there space?`, 1);
  }
  return statSync(file).size;
}

/** An earlier backup may be replaced; the live database, or a file of something else, may not. */
function refuseTarget(database: Database, file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  const live = statSync(database.name);
  if (found.dev === live.dev && found.ino === live.ino) {
    throw new OperatorError(`${file} is the database itself: name another file`);
  }
  if (!found.isFile() || (found.size > 0 && !inspectDatabase(file).isOurs)) {
    throw new OperatorError(`${file} is there and is no backup of authserve: name another file`);
  }
}

/** Ends write-ahead logging in a copy, so that it needs no second file. */
function asOneFile(file: string): void {
  change(file, (copy) => copy.pragma("journal_mode = DELETE"));
}

function change(file: string, run: (database: Sqlite.Database) => void): void {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    run(database);
  } finally {
    database.close();
  }
}

/** What a restore did. */
export interface Restored {
  /** Where the database that was replaced lies now, if there was one. */
  kept: string | null;
}

/**
 * Puts a checked copy of a backup in the place of the database, which stays beside it under another name. The caller
 * holds the lock of the data directory. Throws {@link OperatorError}, with nothing changed, when the backup will not do.
 */
export function restore(backup: string, dataDir: string, now: Date): Restored {
  const target = join(dataDir, DATABASE_FILE);
  const half = `${target}.restoring`;
  if (backup === half) throw new OperatorError(`${backup} is of a restore that was killed: name the backup itself`, 1);
  discard(half);
  // A database that was not closed, e.g. one that an earlier restore kept, has its newest events beside it.
  const hasLog = existsSync(`${backup}-wal`);
  try {
    copyFileSync(backup, half);
    if (hasLog) copyFileSync(`${backup}-wal`, `${half}-wal`);
    chmodSync(half, 0o600);
  } catch (error) {
    discard(half);
    throw new OperatorError(`${backup} cannot be copied into DATA_DIR (${describeError(error)})`, 1);
  }
  try {
    if (hasLog) takeInLog(half, backup);
    assertRestorable(half, backup);
    endSessions(half);
    flush(half);
    const aside = `${target}.replaced-${now.toISOString().replace(/[:.]/g, "-")}`;
    const isReplaced = existsSync(target);
    // The old file keeps its name until the new one takes it: there is a file at every moment.
    if (isReplaced) linkSync(target, aside);
    if (existsSync(`${target}-wal`)) linkSync(`${target}-wal`, `${aside}-wal`);
    // One file can be replaced in one step. What is damaged in a log is kept beside the old file.
    if (isReplaced) takeInOwnLog(target);
    // SQLite would write a log that stays into the new file, also one whose file was gone.
    for (const end of ["-wal", "-shm"]) rmSync(target + end, { force: true });
    renameSync(half, target);
    flush(dataDir);
    return { kept: isReplaced ? aside : null };
  } catch (error) {
    discard(half);
    throw error;
  }
}

function takeInOwnLog(target: string): void {
  try {
    asOneFile(target);
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error;
  }
}

function takeInLog(half: string, name: string): void {
  try {
    asOneFile(half);
  } catch (error) {
    throw new OperatorError(`${name} is damaged (${describeError(error)}): use another backup; nothing was changed`, 1);
  }
}

function assertRestorable(file: string, name: string): void {
  const { isOurs, schema, damage } = inspectDatabase(file, { whole: true });
  if (damage.length > 0) {
    throw new OperatorError(
      `${name} is damaged or cut short (${damage[0]}): use another backup; nothing was changed`,
      1,
    );
  }
  if (!isOurs || schema < 1) {
    throw new OperatorError(`${name} is no backup of authserve: use another file; nothing was changed`, 1);
  }
  if (schema > MIGRATIONS.length) {
    throw new OperatorError(
      `${name} has schema ${schema} and this version knows up to ${MIGRATIONS.length}: run the newer authserve; nothing was changed`,
      1,
    );
  }
}

/** A token that was logged out since the backup must not come back to life. */
function endSessions(file: string): void {
  change(file, (database) => database.exec("DELETE FROM sessions"));
}

/** Removes an unfinished copy with what SQLite has put beside it. */
function discard(half: string): void {
  for (const end of ["", "-wal", "-shm", "-journal"]) rmSync(half + end, { force: true });
}

function flush(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
