import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import Sqlite from "better-sqlite3";
import { AppError, describeError, exitCodeOf, OperatorError, systemCode } from "../errors.ts";
import { causeOf, isLockHeld, prepareDataDir } from "./data-dir.ts";
import { APPLICATION_ID, HELD, inspectDatabase, isDamage, isHeld, isLogAlone, sizeOf } from "./maintenance/inspect.ts";
import { faultOfSchema, SCHEMA, stepsFrom } from "./schema.ts";

export type Database = Sqlite.Database;

// 16 MB of log between checkpoints. Each one writes a page once, however often it changed, and waits for the disk twice.
export const CHECKPOINT_PAGES = 4000;
// What a long read lets the log grow to is given back behind it.
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** The database, in the data directory. */
export const DATABASE_FILE = "authserve.db";
/** Behind the database's name: the copy of a backup, until it takes the database's place. */
export const RESTORING_END = ".restoring";
/** The same of a database that is being replaced, before a time, and of its WAL. */
export const REPLACING_END = ".replacing-";

/** The database of a data directory. A link is followed, as SQLite does: the log lies beside the file that it leads to. */
export function databaseFile(dataDir: string): string {
  const file = join(dataDir, DATABASE_FILE);
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file;
  return existsSync(file) ? realpathSync(file) : resolve(realpathSync(dataDir), readlinkSync(file));
}

export interface OpenOptions {
  busyTimeoutMs?: number;
  /** Looks for damage before anything is written, as far as that is quick. The caller holds the lock of the directory. */
  checked?: boolean;
  /**
   * This process has it open already, so it is not looked at again: closing any descriptor of a file ends all locks that
   * its process holds on it (POSIX), and another program would then take the log of a live database away.
   */
  isOpen?: boolean;
  /** What this process has opened there: anything else, or nothing, is refused. */
  file?: FileId;
}

/** Which file it is, whatever it is called. */
export interface FileId {
  dev: bigint;
  ino: bigint;
}

/** The file of an open database. */
export function fileIdOf(database: Database): FileId {
  const { dev, ino } = statSync(database.name, { bigint: true });
  return { dev, ino };
}

/**
 * Throws `store_unavailable` when this file is not the database of a data directory any more: SQLite goes on writing to a
 * file that was removed, and nobody would find what it holds.
 */
export function assertInPlace(dataDir: string, { dev, ino }: FileId): void {
  try {
    const found = statSync(join(dataDir, DATABASE_FILE), { bigint: true });
    if (found.ino === ino && found.dev === dev) return;
  } catch {
    // Nothing is there, or this user may not look any more.
  }
  const cause = new Error("DATA_DIR holds another database now, or none: start the server again");
  throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause });
}

// Checked in 0.13 s when it is cached; a larger file is left to `authserve doctor`.
const QUICKLY_CHECKED_BYTES = 128 * 1024 * 1024;

/**
 * Opens the database of a data directory and brings its schema up to date.
 * Throws {@link OperatorError} when it cannot be written, is not ours, is damaged, or has a schema that is not read here.
 */
export function openDatabase(dataDir: string, options: OpenOptions = {}): Database {
  if (options.file) assertInPlace(dataDir, options.file);
  else prepareDataDir(dataDir);
  let database: Database | undefined;
  let dir = dataDir;
  try {
    const file = databaseFile(dataDir);
    dir = dirname(file);
    if (!options.isOpen) refuseForeignFile(file);
    const isLocked = !options.checked && !options.isOpen && isLockHeld(dataDir);
    // What a restore replaces is not to be changed, nor what is damaged in it.
    if (isLocked && existsSync(file + RESTORING_END)) throw restoring();
    if (options.checked) assertSound(file);
    // Before it is opened, too: SQLite gives the files that it puts beside it the same mode.
    makePrivate(file);
    const isNew = sizeOf(file) === 0;
    database = new Sqlite(file, { timeout: options.busyTimeoutMs ?? 5000, fileMustExist: options.file !== undefined });
    // Only before the first page: it lets the space of what is removed go back to the disk.
    if (isNew) database.pragma("auto_vacuum = INCREMENTAL");
    database.pragma("journal_mode = WAL");
    // FULL: a commit is on disk when it returns, which is what an acknowledged delivery promises.
    database.pragma("synchronous = FULL");
    database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    database.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
    makePrivate(file);
    migrate(database);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof OperatorError ? error : openFailure(causeOf(error, dir));
  }
}

/** Another connection to the file of an open database, which only reads. */
export function openReader({ name }: Database): Database {
  return new Sqlite(name, { readonly: true, fileMustExist: true });
}

function makePrivate(file: string): void {
  for (const end of ["", "-wal", "-shm"]) {
    try {
      chmodSync(file + end, 0o600);
    } catch (error) {
      // The log goes with whoever closes the database last.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
}

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

/**
 * Looks at the file before SQLite does, which would write to it: a damaged file or another program's stays as it is.
 * Offsets are those of the database header (SQLite, File Format, 1.3). A log beside the file makes its header stale.
 */
function refuseForeignFile(file: string): void {
  if (isLogAlone(file)) throw logAlone();
  const size = sizeOf(file);
  const hasLog = ["-wal", "-journal"].some((end) => sizeOf(file + end) > 0);
  if (size === 0) return;
  const header = Buffer.alloc(HEADER_BYTES);
  const handle = openSync(file, "r");
  try {
    readSync(handle, header, 0, HEADER_BYTES, 0);
  } finally {
    closeSync(handle);
  }
  if (header.toString("latin1", 0, MAGIC.length) !== MAGIC) throw damaged("another file format");
  if (hasLog) return;
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16);
  if (size < header.readUInt32BE(28) * pageSize) throw damaged("it was cut short");
  // What a first start leaves that ends before it has made a table: schema cookie, user version and application id.
  if ([40, 60, 68].every((offset) => header.readUInt32BE(offset) === 0)) return;
  if (header.readUInt32BE(68) !== APPLICATION_ID) throw foreign();
  refuseUnreadable(header.readUInt32BE(60));
}

const damaged = (how: string) =>
  new OperatorError(
    `DATA_DIR/${DATABASE_FILE} is damaged or not a database (${how}): restore a backup with authserve restore; nothing was changed`,
  );

/** What it means that a log lies alone, as the beginning of a sentence. */
export const LOG_ALONE = `${DATABASE_FILE}-wal holds the newest events of a database that is not there`;

const logAlone = () =>
  new OperatorError(
    `DATA_DIR/${LOG_ALONE}: put its ${DATABASE_FILE} back, or move the log away, too; nothing was changed`,
  );

const restoring = () =>
  new OperatorError(`DATA_DIR/${DATABASE_FILE} is being replaced by a restore: try again when that has ended`, 1);

const foreign = () =>
  new OperatorError(`DATA_DIR/${DATABASE_FILE} is another program's database: name an empty DATA_DIR`);

function refuseUnreadable(schema: number): void {
  const fault = faultOfSchema(schema);
  if (fault) {
    throw new OperatorError(`DATA_DIR/${DATABASE_FILE} ${fault.found}: ${fault.remedy}; nothing was changed`);
  }
}

function assertSound(file: string): void {
  const bytes = sizeOf(file);
  if (bytes === 0 || bytes > QUICKLY_CHECKED_BYTES) return;
  const [damage] = inspectDatabase(file).damage;
  if (damage === undefined) return;
  throw damaged(damage);
}

function openFailure(error: unknown): OperatorError {
  if (isDamage(error)) return damaged(systemCode(error));
  if (isHeld(error)) {
    return new OperatorError(
      `DATA_DIR/${DATABASE_FILE} cannot be opened: ${HELD}; end that program, or wait for it`,
      1,
    );
  }
  return new OperatorError(
    `DATA_DIR/${DATABASE_FILE} cannot be opened (${describeError(error)}): the directory must exist on a disk with space and be writable by this user`,
    exitCodeOf(error),
  );
}

function migrate(database: Database): void {
  const applicationId = database.pragma("application_id", { simple: true });
  const schemaOf = () => database.pragma("user_version", { simple: true }) as number;
  const isEmpty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
  if (!isEmpty && applicationId !== APPLICATION_ID) throw foreign();
  refuseUnreadable(schemaOf());
  if (schemaOf() === SCHEMA) return;
  database
    .transaction(() => {
      // Read again inside the transaction: another process may have done this meanwhile.
      for (const step of stepsFrom(schemaOf())) database.exec(step);
      database.pragma(`application_id = ${APPLICATION_ID}`);
      database.pragma(`user_version = ${SCHEMA}`);
    })
    .immediate();
}

/**
 * Makes a transaction of a function. Inside one that is already open it is a part of that: a savepoint of its own would
 * copy every page it changes. Whoever opened the outer one must roll it back when a part fails.
 */
export function atomic<Args extends unknown[], Result>(
  database: Database,
  run: (...args: Args) => Result,
): (...args: Args) => Result {
  const { immediate } = database.transaction(run);
  return (...args) => (database.inTransaction ? run(...args) : immediate(...args));
}

/** Runs one store operation; a failure of SQLite becomes `store_unavailable`. */
export function guarded<T>(operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) {
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause: error });
    }
    throw error;
  }
}
