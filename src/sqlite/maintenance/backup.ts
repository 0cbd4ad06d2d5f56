import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import Sqlite from "better-sqlite3";
import { describeError, OperatorError, systemCode } from "../../errors.ts";
import type { EventName } from "../../events/store.ts";
import { flush } from "../../lib/files.ts";
import { LOCK_FILE } from "../data-dir.ts";
import { DATABASE_FILE, type Database, REPLACING_SUFFIX, RESTORING_SUFFIX } from "../database.ts";
import { findMismatches } from "./checksums.ts";
import { inspectDatabase, isDamage } from "./inspect.ts";

/** Called after each step with the bytes copied so far and the total. */
export type Progress = (copied: number, total: number) => void;

interface BackupOptions {
  /** Whether the new backup may replace an older one. */
  mayReplace: boolean;
  onProgress: Progress;
}

interface BackedUp {
  bytes: number;
  /** Events whose stored bytes do not match their checksum, in the database and so in the backup. */
  damaged: EventName[];
}

const PAGES_PER_STEP = 2000;

/** Name suffixes of the files that SQLite keeps beside a database. */
const LOG_SUFFIXES = ["-wal", "-shm", "-journal"];

/**
 * Copies a snapshot of an open database to the file `name`, while others may write to the database. The file has mode
 * 0600 and gets its name once it is complete, checked and on disk. A link is kept, and its target is written. An event
 * whose stored bytes do not match their checksum is copied as it is: one bad sector must not prevent all backups.
 */
export async function backUp(database: Database, name: string, options: BackupOptions): Promise<BackedUp> {
  const { mayReplace, onProgress } = options;
  const file = targetOf(database, name, mayReplace);
  const partial = file + partialSuffix(process.pid);
  // Before the partial file exists: a signal may come right after it is made.
  const removeHandlers = discardOnSignal(partial);
  try {
    makeEmpty(partial, file);
    discardKilled(file);
    const damaged = await copy(database, partial, onProgress);
    await runSignalHandlers();
    // SQLite would apply the WAL of an older copy to this one.
    discardLogs(file);
    renameSync(partial, file);
    flush(dirname(file));
    return { bytes: statSync(file).size, damaged };
  } catch (error) {
    discardUnfinished(partial);
    if (error instanceof OperatorError) throw error;
    if (isDamage(error)) throw damagedSource(describeError(error));
    throw new OperatorError(`${file} was not written (${describeError(error)}): check the free disk space`, 1);
  } finally {
    removeHandlers();
  }
}

/** The file that a backup is written to. Throws {@link OperatorError} when an existing file may not be replaced. */
function targetOf(database: Database, name: string, mayReplace: boolean): string {
  try {
    const file = followLink(name);
    assertReplaceable(database, file);
    if (!mayReplace && existsSync(file))
      throw new OperatorError(`${name} exists already: name another file, or replace it with --force`, 1);
    return file;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${name} cannot be inspected (${describeError(error)}): name another file`, 1);
  }
}

function followLink(name: string): string {
  if (!lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink()) return name;
  // The target may be on a disk that is not mounted: a file made in its place would be hidden by the mount.
  if (!existsSync(name)) {
    throw new OperatorError(`${name} is a link to a missing file: remove it, or create the file that it names`);
  }
  return realpathSync(name);
}

function makeEmpty(partial: string, file: string): void {
  try {
    // In a container a killed backup may have had the same process id.
    discard(partial);
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    throw new OperatorError(`${file} cannot be written (${describeError(error)}): name a file in a writable folder`, 1);
  }
}

/**
 * Copies the database to another file, checks the copy and flushes it to disk. Returns the events that are damaged in
 * both.
 */
async function copy(database: Database, partial: string, onProgress: Progress): Promise<EventName[]> {
  // Hold a snapshot: otherwise every commit of a server would restart the copy.
  database.exec("BEGIN; SELECT count(*) FROM metadata");
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  try {
    const { totalPages } = await database.backup(partial, {
      progress({ totalPages, remainingPages }) {
        // Otherwise the system writes hundreds of megabytes at once, and commits of a server wait for that. This also
        // ends SQLite's lock on the partial file (POSIX), which no other program opens.
        flush(partial);
        onProgress((totalPages - remainingPages) * pageSize, totalPages * pageSize);
        return PAGES_PER_STEP;
      },
    });
    onProgress(totalPages * pageSize, totalPages * pageSize);
  } finally {
    database.exec("COMMIT");
  }
  leaveWalMode(partial);
  // The same check as at a restore, so that a restore accepts every backup.
  const { damage } = inspectDatabase(partial, { whole: true });
  if (damage[0] !== undefined) throw damagedSource(damage[0]);
  const { events, isCopyWrong } = findMismatches(database, partial);
  if (isCopyWrong) throw new Error("the copy has other bytes than the database: the disk or the memory is faulty");
  flush(partial);
  return events;
}

const partialSuffix = (pid: number) => `.${pid}.partial`;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Discards the unfinished copy when a signal ends this process. Returns a function that removes the handlers. */
function discardOnSignal(partial: string): () => void {
  const removeHandlers = () => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    removeHandlers();
    discard(partial);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return removeHandlers;
}

/** Runs the handlers of signals that came while this thread was busy. Node polls for them between two turns. */
async function runSignalHandlers(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Discards the partial files of killed backups to this file. A running backup keeps its own. */
function discardKilled(file: string): void {
  const name = basename(file);
  for (const found of namesIn(dirname(file))) {
    const pid = found.startsWith(name) ? /^\.([0-9]+)\.partial$/.exec(found.slice(name.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) discard(join(dirname(file), found));
  }
}

/** Empty for a folder that this user may write but not read. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return systemCode(error) === "EPERM";
  }
}

const damagedSource = (how: string) =>
  new OperatorError(`The database is damaged (${how}): no backup was written; run authserve doctor`, 1);

/** Allows replacing an earlier backup only. A live database and other files are refused. */
function assertReplaceable(database: Database, file: string): void {
  if (isSameFile(file, database.name)) throw new OperatorError(`${file} is the database itself: name another file`);
  if (isServerFile(file)) throw new OperatorError(`${file} is a server's own file: name another file`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  if (found.isFile() && found.size === 0) return;
  const inspection = found.isFile() ? inspectDatabase(file) : null;
  if (!inspection?.isOurs) throw new OperatorError(`${file} exists and is not an authserve backup: name another file`);
  if (inspection.inWalMode) throw new OperatorError(`${file} is a database that a server writes to: name another file`);
}

/** Whether the file belongs to a server: its database, the files that SQLite keeps beside it, or its lock. */
function isServerFile(file: string): boolean {
  const names = [LOCK_FILE, DATABASE_FILE, ...LOG_SUFFIXES.map((end) => DATABASE_FILE + end)];
  const name = basename(file);
  const isRestoreFile = [RESTORING_SUFFIX, REPLACING_SUFFIX].some((end) => name.startsWith(DATABASE_FILE + end));
  return existsSync(join(dirname(file), LOCK_FILE)) && (names.includes(name) || isRestoreFile);
}

/** Whether two names refer to one existing file. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/** Moves the write-ahead log (WAL) into the database file and leaves WAL mode: the file is then complete by itself. */
export function leaveWalMode(file: string): void {
  change(file, (copy) => copy.pragma("journal_mode = DELETE"));
}

/** Changes a database file that no other program has open. */
export function change(file: string, run: (database: Sqlite.Database) => void): void {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    run(database);
  } finally {
    database.close();
  }
}

/** Removes an unfinished copy and the files that SQLite keeps beside it. */
export function discard(partial: string): void {
  rmSync(partial, { force: true });
  discardLogs(partial);
}

/** {@link discard} after a failure. It may fail for the same reason, e.g. a name that is too long. */
function discardUnfinished(partial: string): void {
  try {
    discard(partial);
  } catch {}
}

function discardLogs(file: string): void {
  for (const end of LOG_SUFFIXES) rmSync(file + end, { force: true });
}
