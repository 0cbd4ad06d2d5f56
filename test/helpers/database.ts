import { type Database, openDatabase } from "../../src/sqlite/database.ts";
import { type Cleanup, tempDir } from "./temp-dir.ts";

/** A new database in a directory of its own; both go when the test ends. */
export function tempDatabase(
  context: Cleanup,
  options?: { busyTimeoutMs?: number },
): { database: Database; dataDir: string } {
  // Declared first: callbacks run in order, and the file must be closed before it is removed.
  let database: Database | undefined;
  context.after(() => void database?.close());
  const dataDir = tempDir(context);
  database = openDatabase(dataDir, options);
  return { database, dataDir };
}
