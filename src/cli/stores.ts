import { statSync } from "node:fs";
import { readEnvironment } from "../config/env-file.ts";
import { remedyAt } from "../config/service.ts";
import {
  DATABASE_SETTING_NAMES,
  type Environment,
  REDIS_SETTING_NAMES,
  readSettings,
  type SettingName,
  type Settings,
} from "../config/settings.ts";
import { NoSchemaError, OperatorError, systemCode } from "../errors.ts";
import { createLog, type Log } from "../log.ts";
import { DATABASE_FILE, databaseFile } from "../sqlite/database.ts";
import { hasOnlyWal } from "../sqlite/maintenance/inspect.ts";
import { openCommandStores, type Stores } from "../stores.ts";
import { say } from "./output.ts";
import { faultOfServedLog } from "./served-dir.ts";

const NAMES = [
  "DATA_DIR",
  "DEMO_USER_ID",
  "ENCRYPTION_KEYS",
  ...DATABASE_SETTING_NAMES,
  ...REDIS_SETTING_NAMES,
] as const;

/**
 * How long a command that writes much leaves the database to a server. One that waits for its lock tries again within
 * this time (SQLite's busy handler).
 */
export const PAUSE_MS = 100;

/** The stores and settings of a command. */
export interface CommandStores<More extends SettingName = never> extends Stores {
  settings: Pick<Settings, (typeof NAMES)[number] | More>;
}

/**
 * Opens the stores, with or without a running server, runs a command on them, and closes them. The command gets the
 * settings of the stores, and those named in `more`. A nested call sets `isOpen`: the database is open already.
 */
export async function withStores<const More extends SettingName = never>(
  command: (stores: CommandStores<More>) => Promise<void>,
  more: readonly More[] = [],
  { isOpen = false } = {},
): Promise<void> {
  const settings = readSettings(readEnvironment(), [...NAMES, ...more]);
  if (settings.DATABASE_URL === undefined) {
    requireDatabase(settings.DATA_DIR);
    if (!isOpen) requireServedLog(settings.DATA_DIR);
  }
  const stores = await openCommandStores(settings, quietLog(), { isOpen });
  try {
    await command({ ...stores, settings });
  } finally {
    await stores.close();
  }
}

/** Tells of an update of the database on standard error. What else the stores log is of no use to a command. */
export function quietLog(): Log {
  const sayUpdate: Log["info"] = ({ event }, message) => {
    if (event.startsWith("schema_")) say(message);
  };
  return { ...createLog("silent"), info: sayUpdate, warn: sayUpdate };
}

/** Throws {@link OperatorError} if the database does not exist: only a server may create it. */
export function requireDatabase(dataDir: string): void {
  if (hasDatabase(dataDir)) return;
  throw new OperatorError({
    found: `DATA_DIR has no ${DATABASE_FILE}`,
    remedy: remedyAt({
      folder: "start the server once, or set DATA_DIR to its directory",
      service: "start the service once: systemctl start authserve",
    }),
  });
}

/** Throws {@link OperatorError} if the database of a running server has lost its write-ahead log. */
export function requireServedLog(dataDir: string): void {
  const fault = faultOfServedLog(dataDir);
  if (fault !== null) throw new OperatorError(fault, 1);
}

function hasDatabase(dataDir: string): boolean {
  try {
    const file = databaseFile(dataDir);
    // A write-ahead log without its database is refused when it is opened.
    return statSync(file, { throwIfNoEntry: false }) !== undefined || hasOnlyWal(file);
  } catch (error) {
    const code = systemCode(error);
    throw new OperatorError({ found: `DATA_DIR cannot be read (${code})`, remedy: "run this as the server's user" });
  }
}

/** Reads from the stores. Returns `none` before the first start of a server. */
export async function readIfAny<Found>(
  environment: Environment,
  none: Found,
  read: (stores: Stores) => Promise<Found>,
): Promise<Found> {
  let found = none;
  await withStoresIfAny(environment, async (stores) => {
    found = await read(stores);
  });
  return found;
}

/** Runs a command on the stores. Returns false before the first start of a server, when there are none. */
export async function withStoresIfAny(
  environment: Environment,
  command: (stores: Stores) => Promise<void>,
): Promise<boolean> {
  const { DATA_DIR, DATABASE_URL } = readSettings(environment, ["DATA_DIR", "DATABASE_URL"]);
  if (DATABASE_URL === undefined && !hasDatabase(DATA_DIR)) return false;
  try {
    await withStores(command);
    return true;
  } catch (error) {
    if (!(error instanceof NoSchemaError)) throw error;
    return false;
  }
}
