import { utimesSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { describeError, systemCode } from "../errors.ts";
import { trialEvent } from "../events/trial-event.ts";
import type { StoreFault, StorePart } from "../storage/faults.ts";
import { type StoredTable, tablesIn } from "../storage/tables.ts";
import { type Database, openReader } from "./database.ts";
import { eventAppend } from "./event-append.ts";
import { BUSY, isBusy, isDamage } from "./maintenance/inspect.ts";

const TABLES = tablesIn("sqlite");

/** The parts of a database of SQLite. */
export const PARTS: readonly StorePart[] = [...new Set(TABLES.map(({ part }) => part))];

const VALUES = { integer: "-1", text: "''", boolean: "0", bytes: "x''" };

/** Adds a row to a table that no store writes. */
function insertInto({ name, columns, sqlite = columns, checksum }: StoredTable): string {
  const values = Object.entries(sqlite).map(([column, kind]) => [column, VALUES[kind]]);
  if (checksum !== undefined) values.push([checksum, "0"]);
  const row = { ...Object.fromEntries(values), ...STATES[name] };
  return `INSERT INTO ${name} (${Object.keys(row)}) VALUES (${Object.values(row)})`;
}

/** The columns that may not have any text. */
const STATES: Readonly<Record<string, Record<string, string>>> = {
  jobs: { status: "'queued'" },
  attempts: { outcome: "'failed'" },
};

/** {@link tryWrites} for the server. It notices a disk that the system has made read-only, too. */
export function tryServer(database: Database, busyTimeoutMs: number): StoreFault[] {
  try {
    assertWritable(database.name);
  } catch (error) {
    return everywhere(error);
  }
  return tryWrites(database, busyTimeoutMs);
}

/**
 * Writes a row to every table and stores a delivery, in a transaction that is rolled back, so that nothing reaches the
 * disk. Returns what was refused. Waits this long for the lock of another program.
 */
function tryWrites(database: Database, busyTimeoutMs: number): StoreFault[] {
  const timeout = database.pragma("busy_timeout", { simple: true }) as number;
  const faults: StoreFault[] = [];
  database.pragma(`busy_timeout = ${busyTimeoutMs}`);
  try {
    database.exec("BEGIN IMMEDIATE");
    for (const part of PARTS) faults.push(...tryPart(database, part));
    return faults;
  } catch (error) {
    return everywhere(error);
  } finally {
    if (database.inTransaction) database.exec("ROLLBACK");
    database.pragma(`busy_timeout = ${timeout}`);
  }
}

/**
 * Throws if the system has made the disk read-only: what is rolled back would not show it. `isDiskReadOnly` is not for
 * a database that is open.
 */
function assertWritable(file: string): void {
  const now = new Date();
  try {
    utimesSync(file, now, now);
  } catch (error) {
    // Another error, as of a file that another user owns, says nothing about the disk.
    if (systemCode(error) === "EROFS") throw error;
  }
}

// A server under full load has the lock most of the time.
const FILE_TIMEOUT_MS = 5000;

/** {@link tryWrites} on a database file that a server may have open. */
export function tryFile(file: string): StoreFault[] {
  let reader: Database | undefined;
  let database: Database | undefined;
  try {
    // Without another connection that is open, the end of the one that may write would change the file.
    reader = openReader(file);
    reader.prepare("SELECT count(*) FROM sqlite_schema").get();
    database = new Sqlite(file, { fileMustExist: true });
    return tryWrites(database, FILE_TIMEOUT_MS);
  } catch (error) {
    return everywhere(error);
  } finally {
    database?.close();
    reader?.close();
  }
}

const everywhere = (error: unknown) => PARTS.map((part) => faultOf(part, "the database", error));

function tryPart(database: Database, part: StorePart): StoreFault[] {
  const faults = TABLES.filter((table) => table.part === part).flatMap((table) =>
    tryOne(database, part, `the table ${table.name}`, () => database.exec(insertInto(table))),
  );
  if (part !== "events" || faults.length > 0) return faults;
  return tryOne(database, part, "the database", () => eventAppend(database)([trialEvent(Date.now())]));
}

/** Tries one write. Throws an error that has ended the transaction: the next write would stay. */
function tryOne(database: Database, part: StorePart, where: string, write: () => unknown): StoreFault[] {
  try {
    write();
    return [];
  } catch (error) {
    if (!database.inTransaction) throw error;
    return [faultOf(part, where, error)];
  }
}

const RESTORE = "stop the server, copy DATA_DIR to a safe place, then run authserve restore FILE";

function faultOf(part: StorePart, where: string, error: unknown): StoreFault {
  const found = `${where} cannot be written (${isBusy(error) ? BUSY : describeError(error)})`;
  return { part, found, remedy: remedyOf(error) };
}

function remedyOf(error: unknown): string {
  if (isBusy(error)) return "end that program, or wait for it";
  const text = describeError(error);
  if (isDamage(error) || /no such table|has no column/.test(text)) return RESTORE;
  if (/SQLITE_READONLY|EROFS/.test(text))
    return "make DATA_DIR writable for the server's user, on a disk that is writable";
  if (/SQLITE_(?:FULL|IOERR|CANTOPEN)/.test(text)) return "make space on the disk of DATA_DIR, and check the disk";
  return "undo what was changed in the database, or restore a backup";
}
