import type { Database } from "./database.ts";

/**
 * Moves the write-ahead log into the database and returns its space to the disk. Returns false if a reader or another
 * writer still needs the log. Waits for neither.
 */
export function emptyLog(database: Database): boolean {
  const timeout = database.pragma("busy_timeout", { simple: true }) as number;
  database.pragma("busy_timeout = 0");
  try {
    const [{ busy }] = database.pragma("wal_checkpoint(TRUNCATE)") as [{ busy: number }];
    return busy === 0;
  } finally {
    database.pragma(`busy_timeout = ${timeout}`);
  }
}
