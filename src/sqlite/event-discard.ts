import { isDiscardable } from "../events/open-job-page.ts";
import type { EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import { type ChangeJob, jobChanges } from "./job-changes.ts";

/** Discards jobs, and lets the next jobs of their ordering keys run. */
export function eventDiscard(database: Database): SyncPort<Pick<EventStore, "discard" | "discardAll">> {
  const discard = database.prepare(sql.DISCARD);
  const addDiscard = database.prepare(sql.ADD_DISCARD);
  const removeDeadLetter = database.prepare(sql.REMOVE_DEAD_LETTER);
  const promote = database.prepare(sql.PROMOTE);
  const changes = jobChanges(database, isDiscardable);

  const discarding =
    (reason: string, now: number): ChangeJob =>
    (event, { route, status, orderingKey }, moves) => {
      discard.run(now, event, route);
      addDiscard.run(event, route, now, reason);
      removeDeadLetter.run(event, route);
      if (orderingKey !== null) promote.run({ route, orderingKey, now });
      moves.job(route, status, "discarded");
    };

  return {
    discard: (name, reason, now) => changes.ofEvent(name, discarding(reason, now)),
    discardAll: (filter, reason, now, page) => changes.ofPage(filter, page, discarding(reason, now)),
  };
}
