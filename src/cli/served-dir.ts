import type { Fault } from "../errors.ts";
import { readInstance } from "../http/instance.ts";
import { ALREADY_SERVED, AlreadyServedError, isLockHeld } from "../sqlite/data-dir.ts";
import { DATABASE_FILE, databaseFile } from "../sqlite/database.ts";
import { faultOfLog } from "../sqlite/maintenance/log-index.ts";
import { probeServer } from "./running-server.ts";

// A server that runs answers within milliseconds.
const ANSWER_MS = 2000;

/**
 * Throws {@link AlreadyServedError} if the server of a data directory answers. Call before {@link lockDataDir}: the
 * lock of a server whose lock file was removed stops nobody, until it notices.
 */
export async function refuseIfServed(dataDir: string): Promise<void> {
  if (await isServed(dataDir)) throw new AlreadyServedError(ALREADY_SERVED);
}

async function isServed(dataDir: string): Promise<boolean> {
  try {
    if (readInstance(dataDir) === null) return false;
    await probeServer(dataDir, ANSWER_MS);
    return true;
  } catch {
    return false;
  }
}

/**
 * What is wrong with the write-ahead log of a database that a server uses: it was removed, replaced or cut short. Null
 * if nothing is, or if no server runs. A program that opens the database all the same would damage it.
 */
export function faultOfServedLog(dataDir: string): Fault | null {
  if (!isLockHeld(dataDir) || readInstance(dataDir) === null) return null;
  const end = faultOfLog(databaseFile(dataDir));
  if (end === null) return null;
  const found = `DATA_DIR/${DATABASE_FILE}${end} is not the file that the running server uses: it was removed, replaced or cut short`;
  return { found, remedy: "restart the server, and see storage_file_fault in its log" };
}
