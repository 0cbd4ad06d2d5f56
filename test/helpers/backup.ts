import assert from "node:assert/strict";
import { join } from "node:path";
import Sqlite from "better-sqlite3";
import { deliver, event } from "./client.ts";
import { type Server, startServer } from "./server.ts";

export const databaseOf = (server: Server) => join(server.dir, "data/authserve.db");

/** A server with some events, and a backup of it. */
export async function withBackup(count = 20): Promise<{ server: Server; backup: string }> {
  const server = await startServer();
  for (let index = 0; index < count; index++) await deliver(server, event(`evt_${index}`));
  const backup = join(server.dir, "backup.db");
  const { code, stderr } = await server.run(["backup", backup]);
  assert.equal(code, 0, stderr);
  return { server, backup };
}

/** How many events a database file holds. */
export function eventCount(file: string): number {
  const database = new Sqlite(file, { readonly: true });
  try {
    return database.prepare("SELECT count(*) FROM events").pluck().get() as number;
  } finally {
    database.close();
  }
}
