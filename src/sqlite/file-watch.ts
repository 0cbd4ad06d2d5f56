import { AppError, describeError } from "../errors.ts";
import { repeat } from "../lib/repeat.ts";
import type { Log } from "../log.ts";
import { AlreadyServedError, type DirHold, LOCK_FILE } from "./data-dir.ts";
import { isDatabaseInPlace, type OpenFiles } from "./open-files.ts";
import type { ThreadClient } from "./thread-client.ts";

const CHECK_EVERY_MS = 1000;

/** Watches the files of a data directory while its server runs. */
interface FileWatch {
  /** Throws `store_unavailable` while another server holds the data directory. */
  requireHold(): void;
  stop(): Promise<void>;
}

interface Watched {
  dataDir: string;
  files: OpenFiles;
  hold: DirHold;
  /** The storage thread, which looks after the files of the database. */
  thread: Pick<ThreadClient, "call">;
  log: Log;
}

/**
 * Notices within a second when a file of the data directory is removed or replaced, also while nothing is delivered.
 */
export function watchFiles({ dataDir, files, hold, thread, log }: Watched, checkEveryMs = CHECK_EVERY_MS): FileWatch {
  let holdFault: string | null = null;
  let known: string | null = null;

  function renewHold(): void {
    // A directory that was moved away must not be made anew.
    if (!isDatabaseInPlace(dataDir, files)) return;
    try {
      if (hold.renew()) log.warn({ event: "lock_file_renewed" }, `${LOCK_FILE} was removed, and is locked again`);
      holdFault = null;
    } catch (error) {
      holdFault =
        error instanceof AlreadyServedError
          ? `DATA_DIR/${LOCK_FILE} was removed, and another server holds a new one: stop one of the two, and restart the other`
          : `DATA_DIR/${LOCK_FILE} was removed, and cannot be locked again (${describeError(error)}): restart the server`;
    }
  }

  async function check(): Promise<void> {
    renewHold();
    // A thread that has died is reported by itself.
    const fault = holdFault ?? (await thread.call("files", "check", []).catch(() => known));
    if (fault === known) return;
    known = fault;
    if (fault !== null) log.error({ event: "storage_file_fault", error: fault }, "deliveries and logins are refused");
    else log.info({ event: "storage_files_restored" }, "the files of DATA_DIR are in their places again");
  }

  const onError = (error: string) =>
    log.error({ event: "storage_file_fault", error }, "the files of DATA_DIR cannot be checked");
  const checking = repeat(check, { everyMs: checkEveryMs, onError });
  return {
    requireHold() {
      if (holdFault === null) return;
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause: new Error(holdFault) });
    },
    stop: checking.stop,
  };
}
