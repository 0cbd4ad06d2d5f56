import { chmodSync, copyFileSync, existsSync, linkSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { describeError, OperatorError } from "../errors.ts";
import { change, discard, flush, leaveWalMode } from "./backup.ts";
import { DATABASE_FILE } from "./database.ts";
import { inspectDatabase } from "./inspect.ts";
import { MIGRATIONS } from "./migrations.ts";

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
  const partial = `${target}.restoring`;
  if (backup === partial)
    throw new OperatorError(`${backup} is of a restore that was killed: name the backup itself`, 1);
  discard(partial);
  // A database that was not closed, e.g. one that an earlier restore kept, has its newest events beside it.
  const hasWal = existsSync(`${backup}-wal`);
  try {
    copyFileSync(backup, partial);
    if (hasWal) copyFileSync(`${backup}-wal`, `${partial}-wal`);
    chmodSync(partial, 0o600);
  } catch (error) {
    discard(partial);
    throw new OperatorError(`${backup} cannot be copied into DATA_DIR (${describeError(error)})`, 1);
  }
  try {
    if (hasWal) checkpointCopy(partial, backup);
    assertRestorable(partial, backup);
    endSessions(partial);
    flush(partial);
    const aside = `${target}.replaced-${now.toISOString().replace(/[:.]/g, "-")}`;
    const isReplaced = existsSync(target);
    // The old file keeps its name until the new one takes it: there is a file at every moment.
    if (isReplaced) linkSync(target, aside);
    if (existsSync(`${target}-wal`)) linkSync(`${target}-wal`, `${aside}-wal`);
    // One file can be replaced in one step. What is damaged in a WAL is kept beside the old file.
    if (isReplaced) checkpointIgnoringDamage(target);
    // SQLite would write a WAL that stays into the new file, also one whose file was gone.
    for (const end of ["-wal", "-shm"]) rmSync(target + end, { force: true });
    renameSync(partial, target);
    flush(dataDir);
    return { kept: isReplaced ? aside : null };
  } catch (error) {
    discard(partial);
    throw error;
  }
}

function checkpointIgnoringDamage(target: string): void {
  try {
    leaveWalMode(target);
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
