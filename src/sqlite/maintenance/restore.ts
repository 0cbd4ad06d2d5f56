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
import type { AuditEntry, AuditStore } from "../../audit/store.ts";
import { describeError, exitCodeOf, OperatorError, systemCode } from "../../errors.ts";
import { copyFile, flush, linkOrCopy } from "../../lib/files.ts";
import { auditStore } from "../../storage/audit.ts";
import { databaseFile, REPLACING_SUFFIX, RESTORING_SUFFIX } from "../database.ts";
import { onSqlite } from "../queries.ts";
import { faultOfSchema, SCHEMA } from "../schema.ts";
import { change, discard, isSameFile, leaveWalMode, type Progress } from "./backup.ts";
import { hasOnlyWal, hasTable, inspectDatabase } from "./inspect.ts";

interface Restored {
  /** The new path of the replaced database, if there was one. */
  kept: string | null;
  /** How many second factors the backup has. */
  factors: number;
}

/** Throws {@link OperatorError} when the backup cannot be read. Call before locking, which creates DATA_DIR. */
export function requireBackup(file: string): void {
  const found = whyNoFile(file);
  if (found !== null) {
    throw new OperatorError(`${file || "An empty path"} ${found}: name a backup file; nothing was changed`, 1);
  }
}

function whyNoFile(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    const stats = statSync(file);
    if (stats.isFile()) return null;
    return stats.isDirectory() ? "is a directory" : "is not a regular file";
  } catch (error) {
    const code = systemCode(error);
    return code === "ENOENT" || code === "ENOTDIR" ? "does not exist" : `cannot be read by this user (${code})`;
  }
}

/** Name suffix of a replaced database, instead of {@link REPLACING_SUFFIX}. */
const REPLACED_SUFFIX = ".replaced-";

/**
 * Replaces the database with a checked copy of a backup, and keeps the old one beside it under another name. The caller
 * holds the lock of the data directory. The copy has the entry in its audit. Throws {@link OperatorError}, which says
 * whether anything was changed.
 */
export function restore(backup: string, dataDir: string, entry: AuditEntry, onProgress: Progress = () => {}): Restored {
  const target = databaseFile(dataDir);
  const partial = target + RESTORING_SUFFIX;
  if (isSameFile(backup, partial))
    throw new OperatorError(`${backup} belongs to a killed restore: name the backup itself`, 1);
  recoverRestore(dataDir);
  requireBackup(backup);
  let outcome = "nothing was changed";
  try {
    discard(partial);
    const factors = copyChecked(backup, partial, entry, onProgress);
    const isReplaced = existsSync(target);
    const time = new Date(entry.at).toISOString().replace(/[:.]/g, "-");
    const replacing = target + REPLACING_SUFFIX + time;
    checkpoint(target);
    // The old file keeps its name until the new one takes it, so that a database exists at every moment.
    if (isReplaced) {
      linkOrCopy(target, replacing);
      flush(replacing);
    }
    // A WAL that remains is damaged, or its database is gone. SQLite would apply it to the new file.
    if (existsSync(`${target}-wal`)) {
      outcome = "the next start finishes the restore";
      renameSync(`${target}-wal`, `${replacing}-wal`);
    }
    replace(target);
    outcome = "the backup is in place";
    nameReplaced(target);
    return { kept: isReplaced ? target + REPLACED_SUFFIX + time : null, factors };
  } catch (error) {
    tryToRecover(dataDir);
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(
      `The restore of ${backup} failed (${describeError(error)}): free disk space, give this user write access to DATA_DIR, and run it again; ${outcome}`,
      1,
    );
  }
}

/** The files of the databases that restores have replaced. */
export function replacedFiles(dataDir: string): string[] {
  const target = databaseFile(dataDir);
  const beginning = basename(target) + REPLACED_SUFFIX;
  const names = readdirSync(dirname(target)).filter((name) => name.startsWith(beginning));
  return names.sort().map((name) => join(dirname(target), name));
}

/**
 * Undoes or finishes a killed restore. If it only made a copy and a second name, both are removed. If it has moved the
 * damaged WAL or replaced the database, the restore is finished. The caller holds the lock of the data directory.
 * Throws {@link OperatorError}.
 */
export function recoverRestore(dataDir: string): void {
  try {
    const target = databaseFile(dataDir);
    const partial = target + RESTORING_SUFFIX;
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
      `A killed restore in DATA_DIR cannot be undone or finished (${describeError(error)}): give this user write access`,
      exitCodeOf(error),
    );
  }
}

function tryToRecover(dataDir: string): void {
  try {
    recoverRestore(dataDir);
  } catch {
    // The next start tries again. The operator is told why the restore failed.
  }
}

/** The files of a database that is being replaced: the database and its WAL. */
function replacingBeside(target: string): string[] {
  const folder = dirname(target);
  if (!existsSync(folder)) return [];
  const names = readdirSync(folder).filter((name) => name.startsWith(basename(target) + REPLACING_SUFFIX));
  return names.map((name) => join(folder, name));
}

/** Replaces the database with the copy, atomically. */
function replace(target: string): void {
  for (const end of ["-wal", "-shm"]) rmSync(target + end, { force: true });
  renameSync(target + RESTORING_SUFFIX, target);
  flush(dirname(target));
}

function nameReplaced(target: string): void {
  const replacing = replacingBeside(target);
  const start = target + REPLACING_SUFFIX;
  for (const file of replacing) renameSync(file, target + REPLACED_SUFFIX + file.slice(start.length));
  if (replacing.length > 0) flush(dirname(target));
}

/** Copies the backup, ends its sessions, and returns how many second factors it has. */
function copyChecked(backup: string, partial: string, entry: AuditEntry, onProgress: Progress): number {
  // A database that was not closed, e.g. one that an earlier restore kept, has its newest events in the WAL.
  const file = realpathSync(backup);
  const hasWal = existsSync(`${file}-wal`);
  copyFile(file, partial, onProgress);
  if (hasWal) copyFileSync(`${file}-wal`, `${partial}-wal`);
  chmodSync(partial, 0o600);
  if (hasWal) checkpointCopy(partial, backup);
  assertRestorable(partial, backup);
  const factors = endSessions(partial);
  noteRestore(partial, entry);
  flush(partial);
  return factors;
}

/**
 * Moves the WAL into its database and empties it, unless the WAL is damaged. The database stays in WAL mode: a kill
 * could leave a change of mode half done.
 */
function checkpoint(target: string): void {
  if (!existsSync(target) || !existsSync(`${target}-wal`) || hasOnlyWal(target)) return;
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
  const { isOurs, schema, steps, damage } = inspectDatabase(file, { whole: true });
  if (damage.length > 0) {
    throw new OperatorError(
      `${name} is damaged or cut short (${damage[0]}): use another backup; nothing was changed`,
      1,
    );
  }
  if (!isOurs || schema < 1) {
    throw new OperatorError(`${name} is not an authserve backup: use another file; nothing was changed`, 1);
  }
  const fault = faultOfSchema(schema, steps);
  if (!fault) return;
  const remedy = schema > SCHEMA ? fault.remedy : "use another backup, or restore it with the authserve that made it";
  throw new OperatorError(`${name} ${fault.found}: ${remedy}; nothing was changed`, 1);
}

const ENDED = ["sessions", "machine_tokens", "recovery_codes", "client_codes", "client_tokens", "client_consents"];

/**
 * Ends all sessions, tokens, consents, invitations and recovery codes: what was ended, revoked or used after the backup
 * must stay invalid. Returns how many second factors there are.
 */
function endSessions(file: string): number {
  let factors = 0;
  change(file, (database) => {
    // A backup of an older version lacks some tables.
    for (const table of ENDED) if (hasTable(database, table)) database.exec(`DELETE FROM ${table}`);
    if (hasTable(database, "people")) database.exec("UPDATE people SET invitation = NULL");
    if (hasTable(database, "login_factors"))
      factors = database.prepare<[], number>("SELECT count(*) FROM login_factors").pluck().get() ?? 0;
  });
  return factors;
}

function noteRestore(file: string, entry: AuditEntry): void {
  change(file, (database) => {
    // A backup of an older version has none.
    if (hasTable(database, "audit_ends")) onSqlite<AuditStore>(database, auditStore).append(entry);
  });
}
