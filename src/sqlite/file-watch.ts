import { AppError, describeError } from "../errors.ts";
import { repeat } from "../lib/repeat.ts";
import type { Log } from "../log.ts";
import { AlreadyServedError, type DirLock, LOCK_FILE } from "./data-dir.ts";
import { isDatabaseInPlace, type OpenFiles } from "./open-files.ts";
import type { ThreadClient } from "./thread-client.ts";

const CHECK_EVERY_MS = 1000;

interface Watched {
  dataDir: string;
  files: OpenFiles;
  lock: DirLock;
  /** The storage thread, which looks after the files of the database. */
  thread: Pick<ThreadClient, "call">;
  log: Log;
}

/**
 * Notices within a second when a file of the data directory is removed or replaced, also while nothing is delivered.
 */
export function watchFiles({ dataDir, files, lock, thread, log }: Watched, checkEveryMs = CHECK_EVERY_MS) {
  let lockFault: string | null = null;
  let known: string | null = null;

  function renewLock(): void {
    // A directory that was moved away must not be made anew.
    if (!isDatabaseInPlace(dataDir, files)) return;
    try {
      if (lock.renew()) log.warn({ event: "lock_file_renewed" }, `${LOCK_FILE} was removed, and is locked again`);
      lockFault = null;
    } catch (error) {
      lockFault =
        error instanceof AlreadyServedError
          ? `DATA_DIR/${LOCK_FILE} was removed, and another server holds a new one: stop one of the two, and restart the other`
          : `DATA_DIR/${LOCK_FILE} was removed, and cannot be locked again (${describeError(error)}): restart the server`;
    }
  }

  async function check(): Promise<void> {
    renewLock();
    // A thread that has died is reported by itself.
    const fault = lockFault ?? (await thread.call("files", "check", []).catch(() => known));
    if (fault === known) return;
    known = fault;
    if (fault !== null) log.error({ event: "storage_file_fault", error: fault }, "deliveries and logins are refused");
    else log.info({ event: "storage_files_restored" }, "the files of DATA_DIR are in their places again");
  }

  const onError = (error: string) =>
    log.error({ event: "storage_file_fault", error }, "the files of DATA_DIR cannot be checked");
  const checking = repeat(check, { everyMs: checkEveryMs, onError });
  return {
    /** Throws `store_unavailable` while another server holds the data directory. */
    requireLock(): void {
      if (lockFault === null) return;
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause: new Error(lockFault) });
    },
    stop: checking.stop,
  };
}
