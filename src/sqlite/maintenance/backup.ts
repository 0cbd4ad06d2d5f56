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
import { flush } from "../../lib/files.ts";
import { LOCK_FILE } from "../data-dir.ts";
import { DATABASE_FILE, type Database, REPLACING_END, RESTORING_END } from "../database.ts";
import { inspectDatabase, isDamage } from "./inspect.ts";

/** Told after each step how many bytes are copied, of how many. */
export type Progress = (copied: number, total: number) => void;

export interface BackupOptions {
  /** Whether the new backup may take the place of an older one. */
  mayReplace: boolean;
  onProgress: Progress;
}

const PAGES_PER_STEP = 2000;

/** What SQLite puts beside a database. */
const LOG_ENDS = ["-wal", "-shm", "-journal"];

/**
 * Copies an open database to the file `name` as it stands at this moment, while others write to it. The file has mode 0600 and
 * appears under its name when it is whole, checked and on disk; a link stays one, and what it leads to is written.
 * Returns its size in bytes.
 */
export async function backUp(database: Database, name: string, options: BackupOptions): Promise<number> {
  const { mayReplace, onProgress } = options;
  const file = targetOf(database, name, mayReplace);
  const partial = file + partialEnd(process.pid);
  // Before there is anything to discard: a signal may come in between.
  const untake = discardOnSignal(partial);
  try {
    makeEmpty(partial, file);
    clearKilled(file);
    await copy(database, partial, onProgress);
    await letSignalsIn();
    // A log that lies beside an older copy would be taken for this one's.
    discardLogs(file);
    renameSync(partial, file);
    flush(dirname(file));
  } catch (error) {
    discardUnfinished(partial);
    if (error instanceof OperatorError) throw error;
    if (isDamage(error)) throw damagedSource(describeError(error));
    throw new OperatorError(`${file} was not written (${describeError(error)}): is there space?`, 1);
  } finally {
    untake();
  }
  return statSync(file).size;
}

/** The file that a backup is written to. Throws {@link OperatorError} when what is there may not be replaced. */
function targetOf(database: Database, name: string, mayReplace: boolean): string {
  try {
    const file = throughLink(name);
    refuseTarget(database, file);
    if (!mayReplace && existsSync(file))
      throw new OperatorError(`${name} is there already: name another file, or replace it with --force`, 1);
    return file;
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`${name} cannot be looked at (${describeError(error)}): name another file`, 1);
  }
}

function throughLink(name: string): string {
  if (!lstatSync(name, { throwIfNoEntry: false })?.isSymbolicLink()) return name;
  // As where a disk is not mounted: what is written there instead would not be the backup that is looked for.
  if (!existsSync(name)) {
    throw new OperatorError(`${name} is a link that leads nowhere: remove it, or make the file that it names`);
  }
  return realpathSync(name);
}

function makeEmpty(partial: string, file: string): void {
  try {
    // In a container each backup may have the number that a killed one had.
    discard(partial);
    closeSync(openSync(partial, "wx", 0o600));
  } catch (error) {
    throw new OperatorError(`${file} cannot be written (${describeError(error)}): name a file in a folder of yours`, 1);
  }
}

/** Copies the database into a file of its own, checked and on disk. */
async function copy(database: Database, partial: string, onProgress: Progress): Promise<void> {
  // A snapshot: without it every commit of a server would start the copy again.
  database.exec("BEGIN; SELECT count(*) FROM metadata");
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  try {
    const { totalPages } = await database.backup(partial, {
      progress({ totalPages, remainingPages }) {
        onProgress((totalPages - remainingPages) * pageSize, totalPages * pageSize);
        return PAGES_PER_STEP;
      },
    });
    onProgress(totalPages * pageSize, totalPages * pageSize);
  } finally {
    database.exec("COMMIT");
  }
  leaveWalMode(partial);
  // As a restore checks it, or it would refuse what was called a backup.
  const { damage } = inspectDatabase(partial, { whole: true });
  if (damage[0] !== undefined) throw damagedSource(damage[0]);
  flush(partial);
}

const partialEnd = (pid: number) => `.${pid}.partial`;

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** Discards an unfinished copy when this process is told to end, which it then does. Returns a function that takes this back. */
function discardOnSignal(partial: string): () => void {
  const untake = () => {
    for (const signal of SIGNALS) process.off(signal, end);
  };
  const end = (signal: NodeJS.Signals) => {
    untake();
    discard(partial);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, end);
  return untake;
}

/** Signals that came while this thread was busy are told when it asks the system again, which is between two turns. */
async function letSignalsIn(): Promise<void> {
  await nextTurn();
  await nextTurn();
}

/** Discards what backups to this file have left that were killed; one that is still under way keeps its own. */
function clearKilled(file: string): void {
  const name = basename(file);
  for (const found of namesIn(dirname(file))) {
    const pid = found.startsWith(name) ? /^\.([0-9]+)\.partial$/.exec(found.slice(name.length))?.[1] : undefined;
    if (pid !== undefined && !isAlive(Number(pid))) discard(join(dirname(file), found));
  }
}

/** None in a folder that may be written to and not be read. */
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
  new OperatorError(`The database is damaged (${how}): no backup was written; see authserve doctor`, 1);

/** An earlier backup may be replaced; a database that a server writes to, or a file of something else, may not. */
function refuseTarget(database: Database, file: string): void {
  if (isSameFile(file, database.name)) throw new OperatorError(`${file} is the database itself: name another file`);
  if (isServers(file)) throw new OperatorError(`${file} is a server's own file: name another file`);
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) return;
  if (found.isFile() && found.size === 0) return;
  const inspection = found.isFile() ? inspectDatabase(file) : null;
  if (!inspection?.isOurs) throw new OperatorError(`${file} is there and is no backup of authserve: name another file`);
  if (inspection.inWalMode) throw new OperatorError(`${file} is a database that a server writes to: name another file`);
}

/** Whether a name in a data directory is one that its server gives: the database, what SQLite puts beside it, the lock. */
function isServers(file: string): boolean {
  const names = [LOCK_FILE, DATABASE_FILE, ...LOG_ENDS.map((end) => DATABASE_FILE + end)];
  const name = basename(file);
  const isRestores = [RESTORING_END, REPLACING_END].some((end) => name.startsWith(DATABASE_FILE + end));
  return existsSync(join(dirname(file), LOCK_FILE)) && (names.includes(name) || isRestores);
}

/** Whether two names are of one file that is there. */
export function isSameFile(one: string, other: string): boolean {
  const [first, second] = [one, other].map((file) => statSync(file, { throwIfNoEntry: false }));
  return first !== undefined && first.dev === second?.dev && first.ino === second.ino;
}

/** Takes what is in the write-ahead log (WAL) into a database file and ends that log, so that it needs no second file. */
export function leaveWalMode(file: string): void {
  change(file, (copy) => copy.pragma("journal_mode = DELETE"));
}

/** Opens a database file that nobody else has open, and closes it again. */
export function change(file: string, run: (database: Sqlite.Database) => void): void {
  const database = new Sqlite(file, { fileMustExist: true });
  try {
    run(database);
  } finally {
    database.close();
  }
}

/** Removes an unfinished copy with what SQLite has put beside it. */
export function discard(partial: string): void {
  rmSync(partial, { force: true });
  discardLogs(partial);
}

/** The same after a failure, of which this may be a part: that a name is too long, e.g. */
function discardUnfinished(partial: string): void {
  try {
    discard(partial);
  } catch {}
}

function discardLogs(file: string): void {
  for (const end of LOG_ENDS) rmSync(file + end, { force: true });
}
