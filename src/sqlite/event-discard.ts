import type { EventName, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import type { OpenJob } from "./event-replay.ts";
import { eventTally } from "./event-tally.ts";
import * as sql from "./events-sql.ts";

/** Discards the jobs of one event, and lets the next jobs of their ordering keys run. */
export function eventDiscard(database: Database): SyncPort<Pick<EventStore, "discard">>["discard"] {
  const find = database.prepare(sql.FIND).pluck();
  const discardable = database.prepare<unknown[], OpenJob>(sql.DISCARDABLE);
  const discard = database.prepare(sql.DISCARD);
  const addDiscard = database.prepare(sql.ADD_DISCARD);
  const removeDeadLetters = database.prepare(sql.REMOVE_DEAD_LETTERS);
  const promote = database.prepare(sql.PROMOTE);
  const tally = eventTally(database);

  return atomic(database, ({ eventId, source }: EventName, reason: string, now: number) => {
    const event = find.get(eventId, source) as number | undefined;
    if (event === undefined) return 0;
    const before = tally.statusOf(event);
    const jobs = discardable.all(event);
    removeDeadLetters.run(event);
    tally.count((moves) => {
      for (const { route, status, orderingKey } of jobs) {
        discard.run(now, event, route);
        addDiscard.run(event, route, now, reason);
        if (orderingKey !== null) promote.run({ route, orderingKey, now });
        moves.job(route, status, "discarded");
      }
      if (jobs.length > 0) moves.event(before, tally.statusOf(event));
    });
    return jobs.length;
  });
}
