import { hash } from "node:crypto";
import { existsSync } from "node:fs";
import { crc32 } from "node:zlib";
import Sqlite from "better-sqlite3";
import { describeError, OperatorError } from "../../errors.ts";
import { notedKeys } from "../../storage/encryption.ts";
import {
  type CopiedRows,
  keyValues,
  type Position,
  positionOf,
  type StoredTable,
  tablesIn,
} from "../../storage/tables.ts";
import { AlreadyServedError, lockDataDir } from "../data-dir.ts";
import { DATABASE_FILE, type Database, databaseFile, RESTORING_SUFFIX } from "../database.ts";
import { createRun } from "../queries.ts";
import { faultOfSchema, SCHEMA } from "../schema.ts";
import { EXPORTED, type ExportedTable } from "./export-tables.ts";
import { APPLICATION_ID, hasOnlyWal, isDamage, readSteps, sizeOf } from "./inspect.ts";

/** The store of a data directory, as it is copied to another store. It is read and never changed. */
export interface ExportedStore {
  tables: readonly ExportedTable[];
  /** Identifies the content of the store, so that an interrupted copy goes on with the same content only. */
  fingerprint: string;
  /** About the number of rows of all tables. */
  rows: number;
  /** The keys that rows may be encrypted with. */
  keys: readonly string[];
  /**
   * Returns the next rows of a table after a position. `now` is when the copying started. Throws {@link OperatorError}
   * if an event is damaged.
   */
  read(table: ExportedTable, after: Position, now: number): CopiedRows;
  /** Throws {@link OperatorError} if the store has changed since it was opened. */
  requireUnchanged(): void;
  close(): void;
}

/**
 * Opens the store of a data directory, whose server must have stopped and cannot start until `close`. Throws
 * {@link OperatorError} with nothing left open.
 */
export function openExport(dataDir: string): ExportedStore {
  const file = requireFile(dataDir);
  const unlock = lock(dataDir);
  let database: Database | undefined;
  try {
    database = new Sqlite(file, { readonly: true, fileMustExist: true });
    requireSchema(database, dataDir);
    // The `data_version` is that of the snapshot, which the transaction keeps.
    database.exec("BEGIN");
    return exportedStore(database, dataDir, unlock);
  } catch (error) {
    database?.close();
    unlock();
    throw error instanceof OperatorError ? error : unreadable(dataDir, error);
  }
}

function requireFile(dataDir: string): string {
  const file = databaseFile(dataDir);
  if (hasOnlyWal(file) || sizeOf(file) === 0) {
    const found = `${dataDir} has no ${DATABASE_FILE}`;
    throw new OperatorError({ found, remedy: "name the DATA_DIR of the server that used it" });
  }
  return file;
}

/** How a command uses this store. While `DATABASE_URL` is set, as for a migration, all others use that database. */
const onIt = (dataDir: string) => `with DATA_DIR=${dataDir} and without DATABASE_URL`;

function lock(dataDir: string): () => void {
  try {
    const unlock = lockDataDir(dataDir);
    if (!existsSync(databaseFile(dataDir) + RESTORING_SUFFIX)) return unlock;
    unlock();
  } catch (error) {
    if (!(error instanceof AlreadyServedError)) throw error;
    throw new OperatorError({ found: `a server uses ${dataDir}`, remedy: "stop it, and run this again" });
  }
  const found = `${dataDir} has an unfinished restore`;
  throw new OperatorError({
    found,
    remedy: `start the server once ${onIt(dataDir)}: it undoes or finishes the restore; then stop it`,
  });
}

function requireSchema(database: Database, dataDir: string): void {
  const name = `${dataDir}/${DATABASE_FILE}`;
  if (database.pragma("application_id", { simple: true }) !== APPLICATION_ID) {
    const found = `${name} is another program's database`;
    throw new OperatorError({ found, remedy: "name the DATA_DIR of a server" });
  }
  const schema = database.pragma("user_version", { simple: true }) as number;
  const fault = faultOfSchema(schema, readSteps(database));
  if (fault) throw new OperatorError({ found: `${name} ${fault.found}`, remedy: fault.remedy });
  if (schema === SCHEMA) return;
  const found = `${name} has schema ${schema}, older than ${SCHEMA}`;
  throw new OperatorError({ found, remedy: `start the server of this version once ${onIt(dataDir)}, and stop it` });
}

function unreadable(dataDir: string, error: unknown): OperatorError {
  const found = `${dataDir}/${DATABASE_FILE} cannot be read (${describeError(error)})`;
  const remedy = isDamage(error) ? `run authserve doctor ${onIt(dataDir)}` : "run this as the server's user";
  return new OperatorError({ found, remedy }, 1);
}

function exportedStore(database: Database, dataDir: string, unlock: () => void): ExportedStore {
  const version = () => database.pragma("data_version", { simple: true });
  const { fingerprint, rows } = factsOf(database);
  const opened = version();
  const read = pageReader(database, dataDir);

  return {
    tables: EXPORTED,
    fingerprint,
    rows,
    keys: createRun(database)(notedKeys),
    read(table, after, now) {
      try {
        return read(table, after, now);
      } catch (error) {
        throw error instanceof OperatorError ? error : unreadable(dataDir, error);
      }
    },
    requireUnchanged() {
      database.exec("COMMIT; BEGIN");
      if (version() === opened) return;
      const found = `${dataDir}/${DATABASE_FILE} was changed while it was copied`;
      throw new OperatorError({ found, remedy: "run this again while no other command uses it" }, 1);
    },
    close() {
      database.close();
      unlock();
    },
  };
}

/** What a large table has, without a look at each of its rows: some have many gigabytes. */
const FACTS_OF: Readonly<Record<string, string>> = {
  events: "SELECT count(*) AS rows, max(id) FROM events",
  contents: "SELECT count(*) AS rows, min(id) FROM events WHERE id >= (SELECT min(event) FROM contents)",
};

/** The rows of a table. Of a large one their number, with sums that change when a row does. */
function factOf({ name, isLarge, columns }: StoredTable): string {
  if (!isLarge) return `SELECT 1 AS rows, * FROM ${name}`;
  const numbers = Object.keys(columns).filter((column) => columns[column] === "integer");
  return `SELECT count(*) AS rows, ${numbers.map((column) => `total(${column})`)} FROM ${name}`;
}

const FACTS = [
  ...tablesIn("sqlite")
    .filter(({ isLeft }) => !isLeft)
    .map((table) => FACTS_OF[table.name] ?? factOf(table)),
  "SELECT 0 AS rows, * FROM metadata WHERE key GLOB 'credential:*'",
];

function factsOf(database: Database): { fingerprint: string; rows: number } {
  const found = FACTS.map((text) => database.prepare<[], { rows: number }>(text).all());
  const rows = found.flat().reduce((sum, row) => sum + row.rows, 0);
  return { fingerprint: hash("sha256", JSON.stringify(found)), rows };
}

// One statement of the target: it must end within the time limit of a statement.
const MAX_ROWS = 5000;
const MAX_BYTES = 8 * 1024 * 1024;

function pageReader(database: Database, dataDir: string): ExportedStore["read"] {
  return (table, after, now) => {
    const names = Object.keys(table.columns);
    const keys = table.key.map((name) => names.indexOf(name));
    const statement = database.prepare(selectOf(table, after)).raw();
    const values: Record<string, unknown> = { now, limit: MAX_ROWS };
    for (const [index, value] of keyValues(table, after).entries()) values[`key${index}`] = value;
    const columns: unknown[][] = names.map(() => []);
    let count = 0;
    let bytes = 0;
    let last: unknown[] = [];
    for (const row of statement.iterate(values) as IterableIterator<unknown[]>) {
      if (table.checksum) requireChecksum(database, dataDir, table, row);
      for (let index = 0; index < columns.length; index++) {
        (columns[index] as unknown[]).push(row[index]);
        bytes += sizeOfValue(row[index]);
      }
      count++;
      last = row;
      if (bytes >= MAX_BYTES) break;
    }
    decodeBooleans(table, columns);
    return { count, columns, last: positionOf(keys.map((index) => last[index])) };
  };
}

function selectOf({ name, columns, key, from, computed = {}, checksum }: ExportedTable, after: Position): string {
  const selected = Object.keys(columns).map((column) => `${computed[column] ?? column} AS ${column}`);
  if (checksum) selected.push(checksum);
  const rest = after === null ? "" : `WHERE (${key}) > (${key.map((_, index) => `@key${index}`)})`;
  return `SELECT ${selected} FROM ${from ? `(${from})` : name} ${rest} ORDER BY ${key} LIMIT @limit`;
}

const sizeOfValue = (value: unknown) => (typeof value === "string" || value instanceof Uint8Array ? value.length : 8);

/** SQLite has no booleans. */
function decodeBooleans({ columns: kinds }: ExportedTable, columns: unknown[][]): void {
  for (const [index, kind] of Object.values(kinds).entries()) {
    if (kind === "boolean") columns[index] = (columns[index] as unknown[]).map((value) => value === 1);
  }
}

function requireChecksum(
  database: Database,
  dataDir: string,
  { columns }: ExportedTable,
  row: readonly unknown[],
): void {
  const names = Object.keys(columns);
  if (crc32(row[names.indexOf("payload")] as Uint8Array) === row[names.length]) return;
  const event = row[names.indexOf("event")];
  // The name of an event.
  const name = database
    .prepare<[unknown], { eventId: string; source: string }>(
      "SELECT event_id AS eventId, source FROM events WHERE id = ?",
    )
    .get(event);
  const found = `the stored bytes of event ${name?.eventId} of source ${name?.source} do not match their checksum`;
  const remedy = `restore a backup from before ${onIt(dataDir)}, or run the server there until retention has removed the event`;
  throw new OperatorError({ found, remedy }, 1);
}
