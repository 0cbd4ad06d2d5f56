import { describeError } from "../errors.ts";
import type { Log } from "../log.ts";
import { lockDataDir } from "./data-dir.ts";
import { fileIdOf, type OpenOptions, openDatabase } from "./database.ts";
import { watchLogSize } from "./log-size.ts";
import { clearBrokenRestore } from "./maintenance/restore.ts";
import { type SqliteStores, storesBehind, storesOn } from "./stores.ts";
import { type StartThread, startStorageThread, type ThreadClient } from "./thread-client.ts";

/** How a server opens its data directory. */
export interface ServerOptions {
  dataDir: string;
  startThread: StartThread;
  log: Log;
}

/** The stores of the one server. */
export interface SqliteServerStores extends SqliteStores {
  /** Names the database, and differs on another machine. */
  id: string;
  /** The size of the write-ahead log. */
  logBytes(): number;
}

/**
 * Opens the stores of a data directory for the one server that it may have. Writes go to a thread of their own, so that
 * a commit never holds up a request; what every request reads comes from a connection on this thread.
 * Throws {@link OperatorError} with nothing left open.
 */
export async function openForServer(options: ServerOptions): Promise<SqliteServerStores> {
  const { dataDir, startThread, log } = options;
  const unlock = lockDataDir(dataDir);
  try {
    clearBrokenRestore(dataDir);
    const reader = openDatabase(dataDir, { checked: true });
    try {
      const file = fileIdOf(reader);
      const thread = await startStorageThread(startThread, { dataDir, file }, log);
      await releaseStaleLeases(thread, log);
      const logSize = watchLogSize(reader.name, log);
      const close = async () => {
        logSize.stop();
        await thread.close();
        reader.close();
        unlock();
      };
      return { ...storesBehind(thread, reader, close), id: `${file.dev}-${file.ino}`, logBytes: logSize.bytes };
    } catch (error) {
      reader.close();
      throw error;
    }
  } catch (error) {
    unlock();
    throw error;
  }
}

/**
 * The lock on the data directory says that no other server lives: leases in the file are a dead one's. On a full disk
 * they run out by themselves.
 */
async function releaseStaleLeases(thread: ThreadClient, log: Log): Promise<void> {
  try {
    await thread.call("events.releaseAll", [Date.now()]);
  } catch (error) {
    const line = { event: "worker_error" as const, error: describeError(error) };
    log.error(line, "leases of an earlier process could not be ended");
  }
}

/** Opens the stores of a data directory for a command, beside a running server or without one. */
export function openForCommand(dataDir: string, options: OpenOptions): SqliteStores {
  return storesOn(openDatabase(dataDir, options));
}
