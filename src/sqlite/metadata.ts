import type { Database } from "./database.ts";

/** Opens the table `metadata`. `set` replaces an earlier value. Both methods throw SQLite's errors. */
export function createMetadata(database: Database) {
  const get = database.prepare("SELECT value FROM metadata WHERE key = ?").pluck();
  const set = database.prepare(
    "INSERT INTO metadata (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  return {
    get: (key: string) => get.get(key) as string | undefined,
    set: (key: string, value: string) => void set.run(key, value),
  };
}
