import { AppError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import { eventParts } from "../storage/event-parts.ts";
import { type PayloadCodec, PLAIN_CODEC } from "../storage/payload-codec.ts";
import { sentBodies } from "../storage/sent-bodies.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { eventAppend } from "./event-append.ts";
import { eventArrivals } from "./event-arrivals.ts";
import { type EventClaims, eventClaims } from "./event-claims.ts";
import { eventErasure } from "./event-erasure.ts";
import { eventFanOut } from "./event-fan-out.ts";
import { eventHistory } from "./event-history.ts";
import { eventReads } from "./event-reads.ts";
import { eventReplay } from "./event-replay.ts";
import { eventReroute } from "./event-reroute.ts";
import { eventRetention } from "./event-retention.ts";
import { eventRoutes } from "./event-routes.ts";
import * as sql from "./events-sql.ts";
import { onSqlite } from "./queries.ts";
import { statReads } from "./stats.ts";

/** The event store on a SQLite database that the caller opens and closes. */
export type SqliteEvents = SyncPort<Omit<EventStore, "onWork" | "close">> & Pick<EventClaims, "releaseAll">;

/**
 * Creates the SQLite event store. Its methods throw SQLite's errors. Claims and attempts read through `reader`, another
 * connection to the file: SQLite refuses further changes in a transaction that has met a damaged page.
 */
export function sqliteEvents(database: Database, reader = database, codec: PayloadCodec = PLAIN_CODEC): SqliteEvents {
  const ping = database.prepare("SELECT count(*) FROM sqlite_schema");
  const unreadable = database.prepare(sql.UNREADABLE).pluck();
  return {
    append: eventAppend(database, codec),
    ...eventFanOut(database, reader, codec),
    ...eventClaims(database, reader, codec),
    ...eventArrivals(database),
    ...eventHistory(database, codec),
    ...onSqlite(database, eventParts(codec)),
    sentBody: onSqlite(reader, sentBodies(codec)).sentBody,
    ...eventReplay(database, codec),
    ...eventErasure(database, codec),
    ...eventReroute(database),
    ...eventRetention(database),
    ...eventRoutes(database),
    ...eventReads(database, codec),
    ...statReads(database),
    check() {
      ping.get();
      const count = unreadable.get() as number;
      if (count === 0) return;
      const jobs = count === 1 ? "1 job has an event" : `${count} jobs have events`;
      const cause = new Error(`${jobs} that cannot be read: see authserve doctor`);
      throw new AppError("store_unavailable", { retryAfterSeconds: 5, cause });
    },
  };
}
