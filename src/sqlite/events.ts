import type { EventStore } from "../events/store.ts";
import type { Database } from "./database.ts";
import { eventAppend } from "./event-append.ts";
import { type EventClaims, eventClaims } from "./event-claims.ts";
import { eventFanOut } from "./event-fan-out.ts";
import { eventReads } from "./event-reads.ts";
import { eventReplay } from "./event-replay.ts";
import type { Sync } from "./promised.ts";

/** The event store on a SQLite database that somebody else opens and closes; a start on the file also ends stale leases. */
export type SqliteEvents = Sync<Omit<EventStore, "onWork" | "close">> & Pick<EventClaims, "releaseAll">;

/** Creates the SQLite event store. Its methods throw as SQLite does. */
export function sqliteEvents(database: Database): SqliteEvents {
  const check = database.prepare("SELECT count(*) FROM sqlite_schema");
  return {
    append: eventAppend(database),
    ...eventFanOut(database),
    ...eventClaims(database),
    replay: eventReplay(database),
    ...eventReads(database),
    check: () => void check.get(),
  };
}
