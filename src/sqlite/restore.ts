import { accessSync, chmodSync, constants, copyFileSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, exitCodeOf, OperatorError, systemCode } from "../errors.ts";
import { linkOrCopy } from "../link-or-copy.ts";
import { change, discard, flush, isSameFile, leaveWalMode } from "./backup.ts";
import { DATABASE_FILE } from "./database.ts";
import { inspectDatabase } from "./inspect.ts";
import { MIGRATIONS } from "./migrations.ts";

/** What a restore did. */
export interface Restored {
  /** Where the database that was replaced lies now, if there was one. */
  kept: string | null;
}

/** Throws {@link OperatorError} when there is no such file to read: known before the lock makes DATA_DIR. */
export function requireBackup(file: string): void {
  const found = whyNoFile(file);
  if (found !== null) {
    throw new OperatorError(`${file || "A file without a name"} ${found}: name a backup file; nothing was changed`, 1);
  }
}

function whyNoFile(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    const stats = statSync(file);
    if (stats.isFile()) return null;
    return stats.isDirectory() ? "is a directory" : "is no file";
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "is not there" : `cannot be read by this user (${code})`;
  }
}

/** The names that a restore gives in a data directory. */
function namesIn(dataDir: string, now: Date) {
  const target = join(dataDir, DATABASE_FILE);
  return {
    target,
    /** The copy of the backup, until it takes the place of the database. */
    partial: `${target}.restoring`,
    /** The database that is being replaced: its second name until the copy has taken its place, then its only one. */
    replaced: `${target}.replacing`,
    aside: `${target}.replaced-${now.toISOString().replace(/[:.]/g, "-")}`,
  };
}

/**
 * Puts a checked copy of a backup in the place of the database, which stays beside it under another name. The caller
 * holds the lock of the data directory. Throws {@link OperatorError}, with nothing changed when it says so.
 */
export function restore(backup: string, dataDir: string, now: Date): Restored {
  const { target, partial, replaced, aside } = namesIn(dataDir, now);
  if (isSameFile(backup, partial))
    throw new OperatorError(`${backup} is of a restore that was killed: name the backup itself`, 1);
  try {
    clearBrokenRestore(dataDir, now);
    discard(partial);
    copyChecked(backup, partial);
    const isReplaced = existsSync(target);
    // The old file keeps its name until the new one takes it: there is a file at every moment.
    keep(target, replaced);
    // One file can be replaced in one step. What is damaged in a WAL is kept beside the old file.
    if (isReplaced) checkpointIgnoringDamage(target);
    // SQLite would write a WAL that stays into the new file, also one whose file was gone.
    for (const end of ["-wal", "-shm"]) rmSync(target + end, { force: true });
    renameSync(partial, target);
    flush(dataDir);
    clearBrokenRestore(dataDir, now);
    flush(dataDir);
    return { kept: isReplaced ? aside : null };
  } catch (error) {
    const outcome = afterFailure(dataDir, now);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `The restore of ${backup} broke off (${describeError(error)}): give DATA_DIR space and this user write access, and run it again; ${outcome}`,
      1,
    );
  }
}

function afterFailure(dataDir: string, now: Date): string {
  const { partial, replaced } = namesIn(dataDir, now);
  const isDone = !existsSync(partial) && existsSync(replaced);
  try {
    clearBrokenRestore(dataDir, now);
    discard(partial);
    return isDone ? "the backup is in its place, and the old database beside it" : "nothing was changed";
  } catch {
    return "the next start, or restore, clears what is left";
  }
}

/**
 * Ends what a restore has begun that was killed: before the copy took the place of the database nothing has changed,
 * after it the old database gets its name. The caller holds the lock of the data directory. Throws {@link OperatorError}.
 */
export function clearBrokenRestore(dataDir: string, now: Date): void {
  const { target, partial, replaced, aside } = namesIn(dataDir, now);
  try {
    if (!existsSync(partial)) {
      for (const end of ["-wal", ""]) if (existsSync(replaced + end)) renameSync(replaced + end, aside + end);
      return;
    }
    if (existsSync(`${replaced}-wal`) && !existsSync(`${target}-wal`)) renameSync(`${replaced}-wal`, `${target}-wal`);
    discard(replaced);
    discard(partial);
  } catch (error) {
    throw new OperatorError(
      `What a killed restore left in DATA_DIR cannot be cleared (${describeError(error)}): give this user write access`,
      exitCodeOf(error),
    );
  }
}

/** Copies a backup, and makes of the copy a database that may be served. */
function copyChecked(backup: string, partial: string): void {
  // A database that was not closed, e.g. one that an earlier restore kept, has its newest events beside it.
  const hasWal = existsSync(`${backup}-wal`);
  copyFileSync(backup, partial);
  if (hasWal) copyFileSync(`${backup}-wal`, `${partial}-wal`);
  chmodSync(partial, 0o600);
  if (hasWal) checkpointCopy(partial, backup);
  assertRestorable(partial, backup);
  endSessions(partial);
  flush(partial);
}

/** Gives the database and its WAL, where they are there, a second name. */
function keep(target: string, replaced: string): void {
  for (const end of ["", "-wal"]) {
    if (!existsSync(target + end)) continue;
    linkOrCopy(target + end, replaced + end);
    flush(replaced + end);
  }
}

/**
 * Without leaving WAL mode, a change of its own that a kill could leave half done, and without cutting the WAL short: it
 * has a second name.
 */
function checkpointIgnoringDamage(target: string): void {
  try {
    change(target, (database) => database.pragma("wal_checkpoint(FULL)"));
  } catch (error) {
    if (!(error instanceof Sqlite.SqliteError)) throw error;
  }
}

function checkpointCopy(partial: string, name: string): void {
  try {
    leaveWalMode(partial);
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
