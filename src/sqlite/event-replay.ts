import type { EventName, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally } from "./event-tally.ts";
import * as sql from "./events-sql.ts";
import { openJobPages } from "./open-job-pages.ts";
import { jobRequeue, type OpenJob } from "./requeue.ts";

type ReplayPort = Pick<EventStore, "replay" | "replayAll" | "replayConflict" | "count">;

/** Queues failed jobs again, those of one event or page by page those that match a filter. */
export function eventReplay(database: Database): SyncPort<ReplayPort> {
  const find = database.prepare(sql.FIND).pluck();
  const failed = database.prepare<unknown[], OpenJob>(sql.FAILED);
  const replayConflict = database.prepare(sql.REPLAY_CONFLICT);
  const addConflictContents = database.prepare(sql.REPLAY_CONFLICT_CONTENTS);
  const requeue = jobRequeue(database);
  const tally = eventTally(database);
  const pageOf = openJobPages(database);

  /** Replays the failed jobs of events that `isChosen`. Returns the number of jobs of each event. */
  const replayJobs = atomic(
    database,
    (events: number[], isChosen: (event: number, route: string) => boolean, now: number) =>
      tally.count((moves) =>
        events.map((event) => {
          const before = tally.statusOf(event);
          const jobs = failed.all(event).filter(({ route }) => isChosen(event, route));
          for (const job of jobs) requeue(event, job, job.orderingKey, now, moves);
          if (jobs.length > 0) moves.event(event, before, "queued");
          return jobs.length;
        }),
      ),
  );

  return {
    replay({ eventId, source }: EventName, now) {
      const event = find.get(eventId, source) as number | undefined;
      if (event === undefined) return 0;
      const [count = 0] = replayJobs([event], () => true, now);
      return count;
    },
    replayAll(filter, now, page) {
      const { events, next } = pageOf(filter, page);
      const isChosen = (event: number, route: string) => events.get(event)?.includes(route) ?? false;
      const counts = replayJobs([...events.keys()], isChosen, now);
      return { count: counts.filter((count) => count > 0).length, next };
    },
    replayConflict: atomic(database, (event: EventName, conflict: number, now: number) => {
      const { changes, lastInsertRowid } = replayConflict.run({ ...event, conflict, now });
      if (changes > 0) addConflictContents.run({ ...event, conflict, event: lastInsertRowid });
      return changes > 0;
    }),
    count(filter, page) {
      const { events, next } = pageOf(filter, page);
      return { count: events.size, next };
    },
  };
}
