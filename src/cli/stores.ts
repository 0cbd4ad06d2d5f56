import { statSync } from "node:fs";
import { type AuthStores, openAuthStores } from "../auth/open.ts";
import { createEmbeddedSessionStore } from "../auth/sessions/embedded.ts";
import { createSqliteThrottleStore } from "../auth/throttle-sqlite.ts";
import { readEnvironment } from "../config/environment.ts";
import { readSettings, type SettingName, type Settings } from "../config/settings.ts";
import { OperatorError, systemCode } from "../errors.ts";
import { openEventStore } from "../events/open.ts";
import type { EventStore } from "../events/store.ts";
import { createLog } from "../log.ts";
import { openRedis, REDIS_SETTING_NAMES } from "../redis/open.ts";
import { DATABASE_FILE, databaseFile, describeBrokenLog, openDatabase } from "../sqlite/database.ts";
import { isLogAlone } from "../sqlite/inspect.ts";
import { say } from "./output.ts";

const NAMES = ["DATA_DIR", "DEMO_USER_ID", ...REDIS_SETTING_NAMES] as const;

export interface Stores<More extends SettingName> extends AuthStores {
  events: EventStore;
  settings: Pick<Settings, (typeof NAMES)[number] | More>;
}

// A server under full load commits all the time; a command waits this long for its turn.
const BUSY_TIMEOUT_MS = 20_000;

/**
 * Opens the stores beside a running server or without one, runs a command on them, and closes them. The command gets
 * the settings of the stores, and those that it names. Inside another call, `isOpen` says that the database is open.
 */
export async function withStores<const More extends SettingName = never>(
  command: (stores: Stores<More>) => Promise<void>,
  more: readonly More[] = [],
  { isOpen = false } = {},
): Promise<void> {
  const settings = readSettings(readEnvironment(), [...NAMES, ...more]);
  requireDatabase(settings.DATA_DIR);
  const database = openDatabase(settings.DATA_DIR, {
    busyTimeoutMs: BUSY_TIMEOUT_MS,
    isOpen,
    onBrokenLog: (broken) => say(describeBrokenLog(broken)),
  });
  try {
    const redis = await openRedis(settings, createLog("silent"));
    try {
      const embedded = {
        sessions: createEmbeddedSessionStore(database),
        throttle: createSqliteThrottleStore(database),
      };
      await command({ events: openEventStore(database), ...(await openAuthStores(redis, embedded)), settings });
    } finally {
      redis?.close();
    }
  } finally {
    database.close();
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
