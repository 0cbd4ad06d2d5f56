import type { NewJob } from "../events/job.ts";
import type { EventStore, UnroutedEvent } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import type { Sync } from "./promised.ts";

/** Finds the events that have no jobs, and adds those. Ids grow in the order of commits, so that a number is the mark. */
export function eventFanOut(database: Database): Sync<Pick<EventStore, "unrouted" | "addJobs">> {
  const unrouted = database.prepare<unknown[], UnroutedEvent>(sql.UNROUTED);
  const routedTo = database.prepare(sql.ROUTED_TO).pluck();
  const addJob = database.prepare(sql.ADD_JOB);
  const enter = [...sql.ENTER_ROUTED, sql.ENTER_MINUTES].map((text) => database.prepare(text));
  const tally = database.prepare(sql.TALLY_ROUTED);

  return {
    unrouted: (limit) => unrouted.all(limit),
    addJobs: atomic(database, (upTo: number, jobs: NewJob[]) => {
      const mark = routedTo.get() as number;
      // The answer to an earlier call was lost.
      if (upTo <= mark) return;
      for (const { event, route, dueAt } of jobs) addJob.run(event, route, dueAt);
      for (const statement of enter) statement.run(mark, upTo);
      const queued = new Set(jobs.map(({ event }) => event)).size;
      tally.run(upTo, queued, upTo - mark - queued);
    }),
  };
}
