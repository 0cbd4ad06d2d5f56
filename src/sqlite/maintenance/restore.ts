import {
  accessSync,
  chmodSync,
  constants,
  copyFileSync,
  existsSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, exitCodeOf, OperatorError, systemCode } from "../../errors.ts";
import { copyFile, flush, linkOrCopy } from "../../lib/files.ts";
import { databaseFile, REPLACING_END, RESTORING_END } from "../database.ts";
import { faultOfSchema } from "../schema.ts";
import { change, discard, isSameFile, leaveWalMode, type Progress } from "./backup.ts";
import { inspectDatabase, isLogAlone } from "./inspect.ts";

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

/** Takes the place of {@link REPLACING_END} when it has been replaced. */
const REPLACED_END = ".replaced-";

/**
 * Puts a checked copy of a backup in the place of the database, which stays beside it under another name. The caller
 * holds the lock of the data directory. Throws {@link OperatorError}, with nothing changed when it says so.
 */
export function restore(backup: string, dataDir: string, now: Date, onProgress: Progress = () => {}): Restored {
  const target = databaseFile(dataDir);
  const partial = target + RESTORING_END;
  if (isSameFile(backup, partial))
    throw new OperatorError(`${backup} is of a restore that was killed: name the backup itself`, 1);
  clearBrokenRestore(dataDir);
  requireBackup(backup);
  let outcome = "nothing was changed";
  try {
    discard(partial);
    copyChecked(backup, partial, onProgress);
    const isReplaced = existsSync(target);
    const time = now.toISOString().replace(/[:.]/g, "-");
    const replacing = target + REPLACING_END + time;
    checkpoint(target);
    // The old file keeps its name until the new one takes it: there is a file at every moment.
    if (isReplaced) {
      linkOrCopy(target, replacing);
      flush(replacing);
    }
    // What is left of a WAL is damaged, or of a file that is gone. SQLite would write it into the new file.
    if (existsSync(`${target}-wal`)) {
      outcome = "the next start finishes it";
      renameSync(`${target}-wal`, `${replacing}-wal`);
    }
    replace(target);
    outcome = "the backup is in its place";
    nameReplaced(target);
    return { kept: isReplaced ? target + REPLACED_END + time : null };
  } catch (error) {
    clearAfter(dataDir);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `The restore of ${backup} broke off (${describeError(error)}): give DATA_DIR space and this user write access, and run it again; ${outcome}`,
      1,
    );
  }
}

/**
 * Ends what a restore has begun that was killed. As long as only a copy and a second name were made they are removed;
 * when the database has lost its damaged WAL, or its place, the restore is finished. The caller holds the lock of the data
 * directory. Throws {@link OperatorError}.
 */
export function clearBrokenRestore(dataDir: string): void {
  try {
    const target = databaseFile(dataDir);
    const partial = target + RESTORING_END;
    const replacing = replacingBeside(target);
    if (existsSync(partial)) {
      if (replacing.some((file) => file.endsWith("-wal"))) {
        checkpoint(target);
        replace(target);
      } else {
        for (const file of replacing) discard(file);
        discard(partial);
        return;
      }
    }
    nameReplaced(target);
  } catch (error) {
    throw new OperatorError(
      `What a killed restore left in DATA_DIR cannot be cleared (${describeError(error)}): give this user write access`,
      exitCodeOf(error),
    );
  }
}

function clearAfter(dataDir: string): void {
  try {
    clearBrokenRestore(dataDir);
  } catch {
    // The next start tries again; what made the restore fail is what the operator is told.
  }
}

/** A database that is being replaced, and its WAL. */
function replacingBeside(target: string): string[] {
  const folder = dirname(target);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(basename(target) + REPLACING_END));
  return names.map((name) => join(folder, name));
}

/** Puts the copy in the place of the database, in one step. */
function replace(target: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(target + end, { force: true });
  renameSync(target + RESTORING_END, target);
  flush(dirname(target));
}

function nameReplaced(target: string): void {
  const replacing = replacingBeside(target);
  const start = target + REPLACING_END;
  for (const file of replacing) renameSync(file, target + REPLACED_END + file.slice(start.length));
  if (replacing.length > 0) flush(dirname(target));
}

/** Copies a backup, and makes of the copy a database that may be served. */
function copyChecked(backup: string, partial: string, onProgress: Progress): void {
  // A database that was not closed, e.g. one that an earlier restore kept, has its newest events beside it.
  const file = realpathSync(backup);
  const hasWal = existsSync(`${file}-wal`);
  copyFile(file, partial, onProgress);
  if (hasWal) copyFileSync(`${file}-wal`, `${partial}-wal`);
  chmodSync(partial, 0o600);
  if (hasWal) checkpointCopy(partial, backup);
  assertRestorable(partial, backup);
  endSessions(partial);
  flush(partial);
}

/**
 * Takes the WAL into its database and removes it, unless it is damaged. Without leaving WAL mode, a change of its own that
 * a kill could leave half done.
 */
function checkpoint(target: string): void {
  if (!existsSync(target) || !existsSync(`${target}-wal`) || isLogAlone(target)) return;
  try {
    change(target, (database) => database.pragma("wal_checkpoint(TRUNCATE)"));
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
  const fault = faultOfSchema(schema);
  if (fault) throw new OperatorError(`${name} ${fault.found}: ${fault.remedy}; nothing was changed`, 1);
}

/** A token that was logged out since the backup must not come back to life. */
function endSessions(file: string): void {
  change(file, (database) => database.exec("DELETE FROM sessions"));
}
