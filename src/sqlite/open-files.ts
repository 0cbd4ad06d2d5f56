import { join } from "node:path";
import { AppError } from "../errors.ts";
import { type FileId, fileId, isInPlace, sizeInPlace } from "../lib/files.ts";
import { DATABASE_FILE, type Database, databaseFile } from "./database.ts";

/**
 * The files of an open database, by the ends of their names. The log and its index are the same files until it is
 * closed.
 */
export type OpenFiles = Readonly<Record<"" | "-wal" | "-shm", FileId>>;

/** The files of a database that this process has just opened. */
export function openFilesOf({ name }: Pick<Database, "name">): OpenFiles {
  return { "": fileId(name), "-wal": fileId(`${name}-wal`), "-shm": fileId(`${name}-shm`) };
}

/** Whether this file is still the database of the data directory. Its log may be gone. */
export function isDatabaseInPlace(dataDir: string, files: OpenFiles): boolean {
  return isInPlace(join(dataDir, DATABASE_FILE), files[""]);
}

/** Whether the name of the write-ahead log is no longer that of the file that SQLite writes. */
export function isLogGone(dataDir: string, files: OpenFiles): boolean {
  return isDatabaseInPlace(dataDir, files) && !isInPlace(`${databaseFile(dataDir)}-wal`, files["-wal"]);
}

/**
 * Throws `store_unavailable` when these files are no longer the database of the data directory. SQLite goes on writing
 * to a removed file, and those writes would be lost. Without the index, two programs would not see each other's locks.
 */
export function assertInPlace(dataDir: string, files: OpenFiles): void {
  if (!isDatabaseInPlace(dataDir, files)) {
    throw unavailable("DATA_DIR holds another database now, or none: put the database back, or restart the server");
  }
  for (const end of ["-wal", "-shm"] as const) {
    if (isInPlace(databaseFile(dataDir) + end, files[end])) continue;
    throw unavailable(
      `DATA_DIR/${DATABASE_FILE}${end} was removed or replaced: restart the server, and keep other programs away from it`,
    );
  }
}

// The parts of a write-ahead log (SQLite, File Format, 4.1).
const LOG_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;

/**
 * Watches the length of the log of an open database. Returns a function that throws `store_unavailable` when another
 * program has cut it short: a further write would put zeros in place of what is missing.
 */
export function watchLogLength(database: Database, files: OpenFiles): () => void {
  const log = `${database.name}-wal`;
  const pageSize = database.pragma("page_size", { simple: true }) as number;
  let lastBytes = 0;

  /** What the log has to hold. This pragma only counts. */
  function neededBytes(): number {
    const [{ log: frames }] = database.pragma("wal_checkpoint(NOOP)") as [{ log: number }];
    return frames <= 0 ? 0 : LOG_HEADER_BYTES + frames * (FRAME_HEADER_BYTES + pageSize);
  }

  return () => {
    const bytes = sizeInPlace(log, files["-wal"]);
    if (bytes === null) return;
    // SQLite shortens it too, once its pages are in the database.
    if (bytes < lastBytes && bytes < neededBytes()) throw unavailable(CUT_SHORT);
    lastBytes = bytes;
  };
}

const CUT_SHORT = `DATA_DIR/${DATABASE_FILE}-wal was cut short: stop the server, copy DATA_DIR to a safe place, and start it again; the newest events may be lost`;

function unavailable(found: string): AppError {
  return new AppError("store_unavailable", { retryAfterSeconds: 5, cause: new Error(found) });
}
