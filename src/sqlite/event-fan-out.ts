import type { NewJob } from "../events/job.ts";
import type { EventStore, UnroutedEvent } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";

/** Finds events without jobs and adds their jobs. Ids grow in commit order, so one id marks the progress of fan-out. */
export function eventFanOut(database: Database): SyncPort<Pick<EventStore, "unrouted" | "addJobs">> {
  const unrouted = database.prepare<unknown[], UnroutedEvent>(sql.UNROUTED);
  const routedTo = database.prepare(sql.ROUTED_TO).pluck();
  const addJob = database.prepare(sql.ADD_JOB);
  const addToIndexes = [...sql.INDEX_ROUTED, sql.INDEX_MINUTES].map((text) => database.prepare(text));
  const tally = database.prepare(sql.TALLY_ROUTED);

  return {
    unrouted: (limit) => unrouted.all(limit),
    addJobs: atomic(database, (upTo: number, jobs: NewJob[]) => {
      const mark = routedTo.get() as number;
      // A retry of a call whose answer was lost.
      if (upTo <= mark) return;
      for (const { event, route, dueAt } of jobs) addJob.run(event, route, dueAt);
      for (const statement of addToIndexes) statement.run(mark, upTo);
      const queued = new Set(jobs.map(({ event }) => event)).size;
      tally.run(upTo, queued, upTo - mark - queued);
    }),
  };
}
