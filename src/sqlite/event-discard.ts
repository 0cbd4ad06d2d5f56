import type { EventName, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally } from "./event-tally.ts";
import * as sql from "./events-sql.ts";
import { openJobPages } from "./open-job-pages.ts";
import type { OpenJob } from "./requeue.ts";

/** Discards jobs, and lets the next jobs of their ordering keys run. */
export function eventDiscard(database: Database): SyncPort<Pick<EventStore, "discard" | "discardAll">> {
  const find = database.prepare(sql.FIND).pluck();
  const discardable = database.prepare<unknown[], OpenJob>(sql.DISCARDABLE);
  const discard = database.prepare(sql.DISCARD);
  const addDiscard = database.prepare(sql.ADD_DISCARD);
  const removeDeadLetter = database.prepare(sql.REMOVE_DEAD_LETTER);
  const promote = database.prepare(sql.PROMOTE);
  const tally = eventTally(database);
  const pageOf = openJobPages(database);

  /** Discards the jobs of events that `isChosen`. Returns the number of jobs of each event. */
  const discardJobs = atomic(
    database,
    (events: number[], isChosen: (event: number, job: OpenJob) => boolean, reason: string, now: number) =>
      tally.count((moves) =>
        events.map((event) => {
          const before = tally.statusOf(event);
          const jobs = discardable.all(event).filter((job) => isChosen(event, job));
          for (const { route, status, orderingKey } of jobs) {
            discard.run(now, event, route);
            addDiscard.run(event, route, now, reason);
            removeDeadLetter.run(event, route);
            if (orderingKey !== null) promote.run({ route, orderingKey, now });
            moves.job(route, status, "discarded");
          }
          if (jobs.length > 0) moves.event(event, before, tally.statusOf(event));
          return jobs.length;
        }),
      ),
  );

  return {
    discard({ eventId, source }: EventName, reason, now) {
      const event = find.get(eventId, source) as number | undefined;
      if (event === undefined) return 0;
      const [count = 0] = discardJobs([event], () => true, reason, now);
      return count;
    },
    discardAll(filter, reason, now, page) {
      const { events, next } = pageOf(filter, page);
      const isChosen = (event: number, { route, status }: OpenJob) =>
        status === filter.status && (events.get(event)?.includes(route) ?? false);
      const counts = discardJobs([...events.keys()], isChosen, reason, now);
      return { count: counts.filter((count) => count > 0).length, next };
    },
  };
}
