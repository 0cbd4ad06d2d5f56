import type { EventName, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import { type ChangeJob, jobChanges } from "./job-changes.ts";
import { jobRequeue } from "./requeue.ts";

type ReplayPort = Pick<EventStore, "replay" | "replayAll" | "replayConflict">;

/** Queues failed jobs again, those of one event or page by page those that match a filter. */
export function eventReplay(database: Database): SyncPort<ReplayPort> {
  const replayConflict = database.prepare(sql.REPLAY_CONFLICT);
  const addConflictContents = database.prepare(sql.REPLAY_CONFLICT_CONTENTS);
  const requeue = jobRequeue(database);
  const changes = jobChanges(database, sql.FAILED);

  const replaying =
    (now: number): ChangeJob =>
    (event, job, moves) =>
      requeue(event, job, job.orderingKey, now, moves);

  return {
    replay: (name, now) => changes.ofEvent(name, replaying(now)),
    replayAll: (filter, now, page) => changes.ofPage(filter, page, replaying(now)),
    replayConflict: atomic(database, (event: EventName, conflict: number, now: number) => {
      const { changes: added, lastInsertRowid } = replayConflict.run({ ...event, conflict, now });
      if (added > 0) addConflictContents.run({ ...event, conflict, event: lastInsertRowid });
      return added > 0;
    }),
  };
}
