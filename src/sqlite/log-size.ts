import type { Log } from "../log.ts";
import { sizeOf } from "./maintenance/inspect.ts";

/** The write-ahead log takes 16 MB, and more only while somebody reads for long. */
const LARGE_BYTES = 128 * 1024 * 1024;

const LOOK_EVERY_MS = 10_000;

/** The size of a database's write-ahead log. */
export interface LogSize {
  bytes(): number;
  stop(): void;
}

/** Watches the write-ahead log of a database file, and warns when it is large: a reader that does not end lets it grow. */
export function watchLogSize(file: string, log: Log, lookEveryMs = LOOK_EVERY_MS, largeBytes = LARGE_BYTES): LogSize {
  const bytes = () => sizeOf(`${file}-wal`);
  let isLarge = false;

  function look(): void {
    const size = bytes();
    if (size > largeBytes && !isLarge) {
      log.warn(
        { event: "database_log_large", bytes: size },
        "the write-ahead log of the database grows: end the program that reads it for long",
      );
    }
    isLarge = size > largeBytes;
  }

  const looking = setInterval(look, lookEveryMs);
  return { bytes, stop: () => clearInterval(looking) };
}
