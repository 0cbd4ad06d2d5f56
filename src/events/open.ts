import type { Database } from "../sqlite/database.ts";
import { createSqliteEventStore } from "./sqlite/store.ts";
import type { EventStore } from "./store.ts";

/** Opens the event store on an open database. */
export function openEventStore(database: Database): EventStore {
  return createSqliteEventStore(database);
}
