import { numbered } from "../events/free-number.ts";
import { isReplayable } from "../events/open-job-page.ts";
import type { EventName, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import { freeNumbers } from "./free-numbers.ts";
import { type ChangeJob, jobChanges } from "./job-changes.ts";
import { jobRequeue } from "./requeue.ts";

type ReplayPort = Pick<EventStore, "replay" | "replayAll" | "replayConflict" | "replayRepeat">;

/**
 * Queues failed jobs again: those of one event, or those that match a filter. Makes events of what is kept beside one.
 */
export function eventReplay(database: Database): SyncPort<ReplayPort> {
  const replayConflict = database.prepare(sql.REPLAY_CONFLICT);
  const addConflictContents = database.prepare(sql.REPLAY_CONFLICT_CONTENTS);
  const repeatOf = database.prepare<unknown[], { event: number; number: number }>(sql.REPEAT);
  const replayRepeat = database.prepare(sql.REPLAY_REPEAT);
  const addRepeatContents = database.prepare(sql.REPLAY_REPEAT_CONTENTS);
  const repeatReplayed = database.prepare(sql.REPEAT_REPLAYED);
  const freeNumberOf = freeNumbers(database);
  const requeue = jobRequeue(database);
  const changes = jobChanges(database, isReplayable);

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
    replayRepeat: atomic(database, ({ eventId, source }: EventName, repeat: string, now: number) => {
      const found = repeatOf.get(eventId, source, repeat);
      if (!found) return null;
      let newId = repeat;
      let added = replayRepeat.run({ ...found, eventId: newId, now });
      if (added.changes === 0) {
        newId = numbered(repeat, freeNumberOf({ eventId: repeat, source }));
        added = replayRepeat.run({ ...found, eventId: newId, now });
      }
      addRepeatContents.run({ ...found, added: added.lastInsertRowid });
      repeatReplayed.run(newId, found.event, found.number);
      return newId;
    }),
  };
}
