import { readdirSync, rmSync, statSync } from "node:fs";
import { setPriority } from "node:os";
import { basename, join, resolve } from "node:path";
import { readEnvironment } from "../config/env-file.ts";
import { readSettings, usesRedis } from "../config/settings.ts";
import { OperatorError } from "../errors.ts";
import type { EventName } from "../events/store.ts";
import { lockDataDir } from "../sqlite/data-dir.ts";
import { openForCommands } from "../sqlite/database.ts";
import { backUp } from "../sqlite/maintenance/backup.ts";
import { requireBackup, restore } from "../sqlite/maintenance/restore.ts";
import { entryOf } from "./make-change.ts";
import { wholeNumber } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgressBar, megabytesPerSecond } from "./progress.ts";
import { refuseIfServed } from "./served-dir.ts";
import { requireDatabase, requireServedLog } from "./stores.ts";

interface BackupOptions {
  force?: boolean;
  keep?: string;
  json?: boolean;
}

/** The backups of a folder have their time in their names, so that their order is that of time. */
const DATED = /^authserve-\d{8}T\d{6}Z\.db$/;

const datedName = (at: number) => `authserve-${new Date(at).toISOString().replaceAll(/[-:]|\.\d+/g, "")}.db`;

const MOST_KEPT = 10_000;

/** Writes a backup of the database, with or without a running server. With `keep` older ones of the folder go. */
export async function runBackup(place: string, { force = false, keep, json }: BackupOptions): Promise<void> {
  const kept = keep === undefined ? null : wholeNumber("--keep", keep, MOST_KEPT);
  const file = kept === null ? place : join(folderAt(place), datedName(Date.now()));
  const { DATA_DIR, DATABASE_URL } = readSettings(readEnvironment(), ["DATA_DIR", "DATABASE_URL"]);
  if (DATABASE_URL !== undefined) throw usePgDump(`pg_dump --format=custom --schema=authserve --file=FILE ${URL_WORD}`);
  requireDatabase(DATA_DIR);
  requireServedLog(DATA_DIR);
  const database = openForCommands(DATA_DIR, { keepsSchema: true });
  yieldToServer();
  const progress = createProgressBar(megabytesPerSecond);
  try {
    const { bytes, damaged } = await backUp(database, resolve(file), {
      mayReplace: force,
      onProgress: progress.update,
    });
    progress.end();
    if (json) printJson({ file: resolve(file), bytes, damaged });
    else say(`Wrote and verified ${file} (${(bytes / 1e6).toFixed(1)} MB).`);
    if (damaged.length > 0) throw damagedEvents(file, damaged);
    if (kept !== null) removeOlder(place, kept);
  } finally {
    database.close();
  }
}

/** Throws {@link OperatorError} if there is no such folder: a missing one may be a disk that is not mounted. */
function folderAt(place: string): string {
  if (statSync(place, { throwIfNoEntry: false })?.isDirectory()) return place;
  throw new OperatorError({ found: `${place} is not a folder, which --keep needs`, remedy: "create it" });
}

/** Removes all but the newest dated backups of a folder. Other files stay. */
function removeOlder(folder: string, kept: number): void {
  const older = readdirSync(folder)
    .filter((name) => DATED.test(name))
    .sort()
    .slice(0, -kept);
  for (const name of older) rmSync(join(folder, name), { force: true });
  if (older.length > 0) say(`Removed ${counted(older.length, "older backup")}.`);
}

/** The backup has all the rest, so it stays. */
function damagedEvents(file: string, [first, ...others]: readonly EventName[]): OperatorError {
  const more = others.length === 0 ? "" : ` and ${counted(others.length, "other")}`;
  const found = `${file} is written, but the stored bytes of event ${first?.eventId} of source ${first?.source}${more} do not match their checksum`;
  return new OperatorError({ found, remedy: "check the disk, and keep the earlier backups, which may have them" }, 1);
}

/** How a shell reads the setting. Several hosts in one URL are fine for PostgreSQL's programs. */
const URL_WORD = '"$DATABASE_URL"';

/** The programs of PostgreSQL copy its databases better than this one could. */
function usePgDump(command: string): OperatorError {
  return new OperatorError({ found: "The events are in PostgreSQL", remedy: `use its own programs: ${command}` });
}

const BACKGROUND_PRIORITY = 10;

/** Gives the processor to a running server first. A system that refuses this makes the backup no worse. */
function yieldToServer(): void {
  try {
    setPriority(BACKGROUND_PRIORITY);
  } catch {}
}

const FACTORS_OF_BACKUP =
  "Second factors are those of the backup: remove a lost one with authserve factors remove. Recovery codes are gone: make new ones with authserve factors recovery-codes.";

/** Replaces the database with a backup. Throws {@link OperatorError} while a server runs, or if `file` is no backup. */
export async function runRestore(file: string, { json }: { json?: boolean }): Promise<void> {
  const environment = readEnvironment();
  const { DATA_DIR, DATABASE_URL } = readSettings(environment, ["DATA_DIR", "DATABASE_URL"]);
  if (DATABASE_URL !== undefined) {
    // pg_restore --clean fails on the tables that a newer version added.
    const drop = '--command="DROP SCHEMA IF EXISTS authserve CASCADE"';
    const psql = `psql --single-transaction --set=ON_ERROR_STOP=1 ${drop} --file=FILE.sql ${URL_WORD}`;
    throw usePgDump(`stop all servers, then pg_restore --file=FILE.sql FILE && ${psql}`);
  }
  requireBackup(file);
  await refuseIfServed(DATA_DIR);
  const release = lockDataDir(DATA_DIR);
  const progress = createProgressBar(megabytesPerSecond);
  try {
    const entry = entryOf(Date.now(), "store.restore", { file: basename(file) });
    const { kept, factors } = restore(resolve(file), resolve(DATA_DIR), entry, progress.update);
    progress.end();
    if (json) return printJson({ restored: resolve(file), kept });
    const sessions = usesRedis(environment)
      ? "The session in Redis is still active. To end it, run authserve session revoke."
      : "All sessions have ended.";
    const tokens = "Tokens of programs are gone: create them anew.";
    say(`Restored ${file}. Events have the status that they had in the backup. ${sessions} ${tokens}`);
    if (factors > 0) say(FACTORS_OF_BACKUP);
    if (kept !== null) say(`The old database is now ${kept}.`);
  } finally {
    release();
  }
}
