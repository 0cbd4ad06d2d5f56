import type { Database } from "./database.ts";

/** Small facts that must outlive the process, by name. */
export interface Metadata {
  get(key: string): string | undefined;
  set(key: string, value: string): void;
}

/** Opens the facts in the table `metadata`. `set` replaces; both throw as SQLite does. */
export function createMetadata(database: Database): Metadata {
  const get = database.prepare("SELECT value FROM metadata WHERE key = ?").pluck();
  const set = database.prepare(
    "INSERT INTO metadata (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
  );
  return {
    get: (key) => get.get(key) as string | undefined,
    set: (key, value) => {
      set.run(key, value);
    },
  };
}
