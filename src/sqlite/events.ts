import { AppError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import type { Database } from "./database.ts";
import { eventAppend } from "./event-append.ts";
import { type EventClaims, eventClaims } from "./event-claims.ts";
import { eventFanOut } from "./event-fan-out.ts";
import { eventReads } from "./event-reads.ts";
import { eventReplay } from "./event-replay.ts";
import * as sql from "./events-sql.ts";
import type { Sync } from "./promised.ts";

/** The event store on a SQLite database that somebody else opens and closes; a start on the file also ends stale leases. */
export type SqliteEvents = Sync<Omit<EventStore, "onWork" | "close">> & Pick<EventClaims, "releaseAll">;

/**
 * Creates the SQLite event store. Its methods throw as SQLite does. `reader` is another connection to the same file, by which
 * claims read events: on the one that writes, SQLite refuses every change in a transaction that has met a damaged page.
 */
export function sqliteEvents(database: Database, reader = database): SqliteEvents {
  const answers = database.prepare("SELECT count(*) FROM sqlite_schema");
  const unreadable = database.prepare(sql.UNREADABLE).pluck();
  return {
    append: eventAppend(database),
    ...eventFanOut(database),
    ...eventClaims(database, reader),
    replay: eventReplay(database),
    ...eventReads(database),
    check() {
      answers.get();
      const count = unreadable.get() as number;
      if (count === 0) return;
      const jobs = count === 1 ? "1 job has an event" : `${count} jobs have events`;
      const cause = new Error(`${jobs} that cannot be read: see authserve doctor`);
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause });
    },
  };
}
