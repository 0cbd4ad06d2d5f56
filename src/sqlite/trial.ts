import { utimesSync } from "node:fs";
import Sqlite from "better-sqlite3";
import { describeError, systemCode } from "../errors.ts";
import { trialEvent } from "../events/trial-event.ts";
import type { StoreFault, StorePart } from "../lib/store-fault.ts";
import { type Database, openReader } from "./database.ts";
import { eventAppend } from "./event-append.ts";
import { BUSY, isBusy, isDamage } from "./maintenance/inspect.ts";

/** The values of a row of each table that no store writes. */
const ROWS: Record<StorePart, Record<string, string>> = {
  sessions: { sessions: "'', '', 0, NULL, NULL", supersessions: "'', '', 0, '', NULL, 0" },
  throttle: { login_failures: "-1, '', 0", known_addresses: "'', 0" },
  sources: { source_counts: "'', 0, 0, NULL", source_secrets: "'', '', '', 0, 0", source_refusals: "'', '', 0" },
  held: { held: "-1, '', '', '', '', '', '', '', '', 0, x''", held_tally: "'', 0, 0" },
  alerts: { alerts: "'', ''", alert_silences: "'', NULL, 0, ''", alert_messages: "-1, '', '', 0, 0" },
  nodes: {},
  events: {
    metadata: "'', ''",
    events_by_type: "'', -1",
    events_by_source: "'', -1",
    events_by_minute: "-1, -1",
    jobs: "-1, '', 'queued', 0, 0, 0, NULL, 0, NULL, NULL, NULL, NULL, NULL",
    tally: "0, 0, 0, 0, 0, 0, 0, 0, 0",
    reroutes: "-1",
    route_tally: "'', 0, 0, 0, 0",
    paused_routes: "'', 0",
    attempts: "-1, '', 0, 0, 0, 'failed', NULL, NULL",
    dead_letters: "-1, '', 0, '', 0",
    discards: "-1, '', 0, ''",
    conflicts: "-1, x'', '', '', '', '', '', 0, 0, 0, 0, x''",
    repeats: "-1, 0, '', '', '', '', '', '', 0, 0, 0, NULL",
    stats_minutes: "-1, '', '', '', 0",
    stats_hours: "-1, '', '', '', 0",
    latency_minutes: "-1, 0, '', '', 0",
    latency_hours: "-1, 0, '', '', 0",
    events: "-1, '', '', '', 0, 0, NULL",
    contents: "-1, '', '', '', '', 0, x''",
  },
};

/** The parts of a database of SQLite. */
export const PARTS = (Object.keys(ROWS) as StorePart[]).filter((part) => part !== "nodes");

/**
 * Writes a row to every table and stores a delivery, in a transaction that is rolled back, so that nothing reaches the disk. Returns
 * what was refused. Waits this long for the lock of another program.
 */
export function tryWrites(database: Database, busyTimeoutMs: number): StoreFault[] {
  const timeout = database.pragma("busy_timeout", { simple: true }) as number;
  const faults: StoreFault[] = [];
  database.pragma(`busy_timeout = ${busyTimeoutMs}`);
  try {
    assertWritable(database.name);
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

/** Throws if the system has made the disk read-only: what is rolled back would not show it. */
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
  const faults = Object.entries(ROWS[part]).flatMap(([table, values]) =>
    tryOne(database, part, `the table ${table}`, () => database.exec(`INSERT INTO ${table} VALUES (${values})`)),
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
  if (isDamage(error) || /no such table|has \d+ columns/.test(text)) return RESTORE;
  if (/SQLITE_READONLY|EROFS/.test(text))
    return "make DATA_DIR writable for the server's user, on a disk that is writable";
  if (/SQLITE_(?:FULL|IOERR|CANTOPEN)/.test(text)) return "make space on the disk of DATA_DIR, and check the disk";
  return "undo what was changed in the database, or restore a backup";
}
