import { statSync } from "node:fs";
import { readEnvironment } from "../config/env-file.ts";
import { REDIS_SETTING_NAMES, readSettings, type SettingName, type Settings } from "../config/settings.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { createLog } from "../log.ts";
import { DATABASE_FILE, databaseFile } from "../sqlite/database.ts";
import { isLogAlone } from "../sqlite/maintenance/inspect.ts";
import { openCommandStores, type Stores } from "../stores.ts";

const NAMES = ["DATA_DIR", "DEMO_USER_ID", ...REDIS_SETTING_NAMES] as const;

/** What a command works on. */
export interface CommandStores<More extends SettingName> extends Stores {
  settings: Pick<Settings, (typeof NAMES)[number] | More>;
}

/**
 * Opens the stores beside a running server or without one, runs a command on them, and closes them. The command gets
 * the settings of the stores, and those that it names. Inside another call, `isOpen` says that the database is open.
 */
export async function withStores<const More extends SettingName = never>(
  command: (stores: CommandStores<More>) => Promise<void>,
  more: readonly More[] = [],
  { isOpen = false } = {},
): Promise<void> {
  const settings = readSettings(readEnvironment(), [...NAMES, ...more]);
  requireDatabase(settings.DATA_DIR);
  const stores = await openCommandStores(settings, createLog("silent"), { isOpen });
  try {
    await command({ ...stores, settings });
  } finally {
    await stores.close();
  }
}

/** Throws {@link OperatorError} when no server has made the database yet: a command must not make an empty one. */
export function requireDatabase(dataDir: string): void {
  try {
    const file = databaseFile(dataDir);
    // What lies there without its database is refused when it is opened.
    if (statSync(file, { throwIfNoEntry: false }) || isLogAlone(file)) return;
  } catch (error) {
    const code = systemCode(error);
    throw new OperatorError(`DATA_DIR cannot be read (${code}): run this as the user that the server runs as`);
  }
  throw new OperatorError(`DATA_DIR has no ${DATABASE_FILE}: start the server once, or name its directory in DATA_DIR`);
}
