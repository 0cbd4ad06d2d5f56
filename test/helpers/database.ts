import assert from "node:assert/strict";
import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { DATABASE_FILE, type Database, openDatabase } from "../../src/sqlite/database.ts";
import { sqliteEvents } from "../../src/sqlite/events.ts";
import { type Cleanup, tempDir } from "./temp-dir.ts";

/** A new database in its own directory. Both are removed when the test ends. */
export function tempDatabase(
  context: Cleanup,
  options?: { busyTimeoutMs?: number },
): { database: Database; dataDir: string } {
  // Registered first: callbacks run in order, and the file must be closed before it is removed.
  let database: Database | undefined;
  context.after(() => void database?.close());
  const dataDir = tempDir(context);
  database = openDatabase(dataDir, options);
  return { database, dataDir };
}

/** The statement of the event store that has this text. `use` calls what prepares it, if that is late. */
export function statementWith(
  database: Database,
  part: string,
  use: (store: ReturnType<typeof sqliteEvents>) => unknown = () => {},
): string {
  const texts: string[] = [];
  const recorded = new Proxy(database, {
    get(target, name) {
      const value = Reflect.get(target, name);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        if (name === "prepare") texts.push(String(args[0]));
        return value.apply(target, args);
      };
    },
  });
  use(sqliteEvents(recorded));
  const found = texts.find((text) => text.includes(part));
  assert.ok(found, `a statement with ${part}`);
  return found;
}

/**
 * Whether a process holds SQLite's lock on the database. Without it, other programs could remove the write-ahead log.
 */
export function isLocked(dataDir: string, pid = process.pid): boolean {
  const { ino } = statSync(join(dataDir, DATABASE_FILE));
  const locks = readFileSync("/proc/locks", "utf8").split("\n");
  return locks.some((line) => new RegExp(`POSIX.* READ +${pid} [0-9a-f:]+:${ino} `).test(line));
}
