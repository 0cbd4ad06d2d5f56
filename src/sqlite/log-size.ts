import { repeat } from "../lib/repeat.ts";
import type { Log } from "../log.ts";
import { sizeOf } from "./maintenance/inspect.ts";

/** The write-ahead log (WAL) grows beyond 16 MB only while a program reads for long. */
const LARGE_BYTES = 128 * 1024 * 1024;

const CHECK_EVERY_MS = 10_000;

/** Watches the write-ahead log of a database file and warns when it is large: a read that does not end lets it grow. */
export function watchLogSize(file: string, log: Log, checkEveryMs = CHECK_EVERY_MS, largeBytes = LARGE_BYTES) {
  const read = () => sizeOf(`${file}-wal`);
  let isLarge = false;

  function checkSize(): void {
    const size = read();
    if (size > largeBytes && !isLarge) {
      log.warn(
        { event: "database_log_large", bytes: size },
        "the write-ahead log of the database is large: end the program that keeps reading the database",
      );
    }
    isLarge = size > largeBytes;
  }

  // The watch of the files reports what is wrong with them.
  const checking = repeat(checkSize, { everyMs: checkEveryMs, onError: () => {} });
  return {
    /** The size of the log; NaN if it cannot be read. */
    bytes(): number {
      try {
        return read();
      } catch {
        return Number.NaN;
      }
    },
    stop: checking.stop,
  };
}
