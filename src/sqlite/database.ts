import { chmodSync, closeSync, existsSync, lstatSync, openSync, readlinkSync, readSync, realpathSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import Sqlite from "better-sqlite3";
import { AppError, describeError, exitCodeOf, OperatorError, systemCode } from "../errors.ts";
import { secondsSince } from "../lib/figures.ts";
import type { Log } from "../log.ts";
import { stepsToRecord, updatedText, updatingText } from "../storage/schema-steps.ts";
import { causeOf, isLockHeld, prepareDataDir, remedyOfUnwritable } from "./data-dir.ts";
import {
  APPLICATION_ID,
  BUSY,
  hasOnlyWal,
  inspectDatabase,
  isBusy,
  isDamage,
  readSteps,
  sizeOf,
} from "./maintenance/inspect.ts";
import { isDiskReadOnly, openToRead } from "./read-only.ts";
import { faultOfSchema, RECORD_STEPS, SCHEMA, STEP_DIGESTS, stepsFrom } from "./schema.ts";

export type Database = Sqlite.Database;

// 16 MB of WAL between checkpoints. A checkpoint writes each changed page once and waits for the disk twice.
export const CHECKPOINT_PAGES = 4000;
// A long read lets the WAL grow. Once the read has ended, the file is truncated to this size.
const MAX_LOG_BYTES = 16 * 1024 * 1024;

/** The database, in the data directory. */
export const DATABASE_FILE = "authserve.db";
/** Name suffix of the copy of a backup, until it replaces the database. */
export const RESTORING_SUFFIX = ".restoring";
/** Name suffix of a database that is being replaced, and of its WAL. A time follows. */
export const REPLACING_SUFFIX = ".replacing-";

/** The database of a data directory. A link is followed as SQLite does: the WAL lies beside the target of the link. */
export function databaseFile(dataDir: string): string {
  const file = join(dataDir, DATABASE_FILE);
  if (!lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) return file;
  return existsSync(file) ? realpathSync(file) : resolve(realpathSync(dataDir), readlinkSync(file));
}

export interface OpenOptions {
  busyTimeoutMs?: number;
  /** Checks a database of up to 128 MB for damage before anything is written. The caller holds the directory's lock. */
  checked?: boolean;
  /**
   * This process has the database open already, so the file is not inspected again. Closing any descriptor of a file
   * ends all locks of the process on it (POSIX). Another program could then remove the WAL of a live database.
   */
  isOpen?: boolean;
  /** Leaves an older schema as it is, for a backup that the older version can restore. */
  keepsSchema?: boolean;
  /** Is told that an older schema is brought up to date. */
  log?: Log | undefined;
}

// Checked in 0.13 s when the file is cached. `authserve doctor` checks larger ones.
const QUICKLY_CHECKED_BYTES = 128 * 1024 * 1024;

/**
 * Opens the database of a data directory and brings its schema up to date.
 * Throws {@link OperatorError} when it cannot be written, is not ours, is damaged, or has an unsupported schema.
 */
export function openDatabase(dataDir: string, options: OpenOptions = {}): Database {
  if (!options.isOpen) prepareDataDir(dataDir);
  let database: Database | undefined;
  let file = join(dataDir, DATABASE_FILE);
  try {
    file = databaseFile(dataDir);
    if (!options.isOpen) refuseForeignFile(file);
    const isInUse = !options.checked && !options.isOpen && isLockHeld(dataDir);
    // The database must not change while a restore replaces it.
    if (isInUse && existsSync(file + RESTORING_SUFFIX)) throw restoring();
    if (options.checked) assertUndamaged(file);
    // Also before it is opened: SQLite creates the WAL and its index with the mode of the database.
    makePrivate(file);
    const isNew = sizeOf(file) === 0;
    database = new Sqlite(file, { timeout: options.busyTimeoutMs ?? 5000, fileMustExist: options.isOpen === true });
    // Returns the space of deleted rows to the disk. Has an effect only before the first page is written.
    if (isNew) database.pragma("auto_vacuum = INCREMENTAL");
    database.pragma("journal_mode = WAL");
    // FULL: a commit is on disk when it returns. An acknowledged delivery promises that.
    database.pragma("synchronous = FULL");
    // What is deleted is overwritten, also in free pages: an erased payload must not stay in the file.
    database.pragma("secure_delete = ON");
    database.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    database.pragma(`journal_size_limit = ${MAX_LOG_BYTES}`);
    makePrivate(file);
    const schema = schemaOf(database);
    if (!options.keepsSchema || schema === 0) migrate(database, schema, options.log);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof OperatorError ? error : openFailure(causeOf(error, dirname(file)), file);
  }
}

/**
 * Opens the database for a command, with or without a server. On a read-only disk it is only read, and a change throws
 * `SQLITE_READONLY`. Throws {@link OperatorError} as {@link openDatabase} does.
 */
export function openForCommands(dataDir: string, options: OpenOptions = {}): Database {
  const file = databaseFile(dataDir);
  if (options.isOpen || !isDiskReadOnly(file)) return openDatabase(dataDir, options);
  let database: Database | undefined;
  try {
    refuseForeignFile(file);
    database = openToRead(file, options.busyTimeoutMs);
    const schema = schemaOf(database);
    if (schema < SCHEMA) throw notMigrated(schema);
    return database;
  } catch (error) {
    database?.close();
    throw error instanceof OperatorError ? error : openFailure(error, file);
  }
}

/** Opens another, read-only connection to the file of a database that is open. */
export function openReader(file: string): Database {
  return new Sqlite(file, { readonly: true, fileMustExist: true });
}

function makePrivate(file: string): void {
  for (const end of ["", "-wal", "-shm"]) {
    try {
      chmodSync(file + end, 0o600);
    } catch (error) {
      // The last connection that closes removes the WAL.
      if (systemCode(error) !== "ENOENT") throw error;
    }
  }
}

const HEADER_BYTES = 100;
const MAGIC = "SQLite format 3\0";

/**
 * Inspects the file before SQLite opens it and may write to it. A damaged or foreign file stays unchanged.
 * Offsets are those of the database header (SQLite, File Format, 1.3). A WAL or journal makes the header stale.
 */
function refuseForeignFile(file: string): void {
  if (hasOnlyWal(file)) throw orphanedWal();
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
  if (size < header.readUInt32BE(28) * pageSize) throw damaged("the file is truncated");
  // A first start was killed before it made a table: schema cookie, user version and application id are 0.
  if ([40, 60, 68].every((offset) => header.readUInt32BE(offset) === 0)) return;
  if (header.readUInt32BE(68) !== APPLICATION_ID) throw foreign();
  const schema = header.readUInt32BE(60);
  refuseUnreadable(schema, schema > SCHEMA ? stepsIn(file) : []);
}

/** The steps that a file without a log keeps; none if it cannot be read. Unlike a reader, a writer leaves no log. */
function stepsIn(file: string): readonly string[] {
  let database: Database | undefined;
  try {
    database = new Sqlite(file, { fileMustExist: true });
    return readSteps(database);
  } catch {
    return [];
  } finally {
    database?.close();
  }
}

const damaged = (how: string) =>
  new OperatorError(
    `DATA_DIR/${DATABASE_FILE} is damaged or not a database (${how}): restore a backup with authserve restore; nothing was changed`,
  );

/** Describes a WAL without its database, as the beginning of a sentence. */
export const ORPHANED_WAL = `${DATABASE_FILE}-wal holds the newest events, but its ${DATABASE_FILE} is missing`;

const orphanedWal = () =>
  new OperatorError(
    `DATA_DIR/${ORPHANED_WAL}: put ${DATABASE_FILE} back, or move the -wal file away; nothing was changed`,
  );

const restoring = () =>
  new OperatorError(`DATA_DIR/${DATABASE_FILE} is being replaced by a restore: try again after the restore`, 1);

const foreign = () =>
  new OperatorError(`DATA_DIR/${DATABASE_FILE} is another program's database: name an empty DATA_DIR`);

const notMigrated = (schema: number) =>
  new OperatorError(
    `DATA_DIR is on a read-only disk, and the schema of its ${DATABASE_FILE} is ${schema}, older than ${SCHEMA}: make the disk writable, or run the older authserve`,
    1,
  );

function refuseUnreadable(schema: number, steps: readonly string[] = []): void {
  const fault = faultOfSchema(schema, steps);
  if (fault) {
    throw new OperatorError(`DATA_DIR/${DATABASE_FILE} ${fault.found}: ${fault.remedy}; nothing was changed`);
  }
}

function assertUndamaged(file: string): void {
  const bytes = sizeOf(file);
  if (bytes === 0 || bytes > QUICKLY_CHECKED_BYTES) return;
  const [damage] = inspectDatabase(file).damage;
  if (damage === undefined) return;
  throw damaged(damage);
}

function openFailure(error: unknown, file: string): OperatorError {
  if (isDamage(error)) return damaged(systemCode(error));
  if (isBusy(error)) {
    return new OperatorError(
      `DATA_DIR/${DATABASE_FILE} cannot be opened: ${BUSY}; end that program, or wait for it`,
      1,
    );
  }
  return new OperatorError(
    `DATA_DIR/${DATABASE_FILE} cannot be opened (${describeError(error)}): ${remedyOfUnwritable(file)}`,
    exitCodeOf(error),
  );
}

const beingUpdated = (schema: number) =>
  new OperatorError(
    `DATA_DIR/${DATABASE_FILE} has the older schema ${schema}, and ${BUSY}, such as a server or a command that updates it: wait for it`,
    1,
  );

/** The schema of an open database. Throws {@link OperatorError} if it is not ours, or this version cannot read it. */
function schemaOf(database: Database): number {
  const applicationId = database.pragma("application_id", { simple: true });
  const isEmpty = database.prepare("SELECT count(*) FROM sqlite_schema").pluck().get() === 0;
  if (!isEmpty && applicationId !== APPLICATION_ID) throw foreign();
  const schema = database.pragma("user_version", { simple: true }) as number;
  refuseUnreadable(schema, readSteps(database));
  return schema;
}

function migrate(database: Database, from: number, log: Log | undefined): void {
  if (from === SCHEMA && stepsToRecord(readSteps(database), STEP_DIGESTS) === null) return;
  const startedAt = performance.now();
  try {
    const taken = database.transaction(() => takeSteps(database, log)).immediate();
    if (taken === null) return;
    const seconds = secondsSince(startedAt);
    log?.info({ event: "schema_updated", ...taken, seconds }, updatedText(SCHEMA, seconds));
  } catch (error) {
    throw isBusy(error) && from > 0 && from < SCHEMA ? beingUpdated(from) : error;
  }
}

/** Takes the steps that are missing. Returns which, if the file is of an older version. */
function takeSteps(database: Database, log: Log | undefined): { fromSchema: number; toSchema: number } | null {
  // Read again inside the transaction: another process may have migrated meanwhile.
  const from = schemaOf(database);
  const taken = from > 0 && from < SCHEMA ? { fromSchema: from, toSchema: SCHEMA } : null;
  if (taken) log?.info({ event: "schema_updating", ...taken }, updatingText(from, SCHEMA));
  for (const step of stepsFrom(from)) database.exec(step);
  const record = stepsToRecord(readSteps(database), STEP_DIGESTS);
  if (record !== null) database.prepare(RECORD_STEPS).run(record);
  database.pragma(`application_id = ${APPLICATION_ID}`);
  database.pragma(`user_version = ${SCHEMA}`);
  return taken;
}

/**
 * Makes a function run as a transaction. Inside an open transaction it becomes part of that one, because a savepoint
 * would copy every page it changes. The owner of the outer transaction must roll back when a part fails.
 */
export function atomic<Args extends unknown[], Result>(
  database: Database,
  run: (...args: Args) => Result,
): (...args: Args) => Result {
  const { immediate } = database.transaction(run);
  return (...args) => (database.inTransaction ? run(...args) : immediate(...args));
}

/** Runs one store operation and turns a SQLite error into `store_unavailable`. */
export function translateErrors<T>(operation: () => T): T {
  try {
    return operation();
  } catch (error) {
    if (error instanceof Sqlite.SqliteError) {
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause: error });
    }
    throw error;
  }
}
