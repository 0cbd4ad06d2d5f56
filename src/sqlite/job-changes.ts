import { isStillFound } from "../events/open-job-page.ts";
import type { CountedPage, EventName, JobFilter, PageRequest } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally, type TallyMoves } from "./event-tally.ts";
import * as sql from "./events-sql.ts";
import { openJobPages } from "./open-job-pages.ts";
import type { ChangeableJob } from "./requeue.ts";

/** Changes one job, and records its move. The move of its event is recorded by the caller. */
export type ChangeJob = (event: number, job: ChangeableJob, moves: TallyMoves) => void;

/** Changes jobs of one event, or page by page those that match a filter. Each call is one transaction. */
interface JobChanges {
  /** Changes the jobs of an event. Returns their number. */
  ofEvent(name: EventName, change: ChangeJob): number;
  /** Changes the jobs of a page. Returns the number of their events. */
  ofPage(filter: JobFilter, page: PageRequest, change: ChangeJob): CountedPage;
}

/** Prepares changes of jobs that `isChangeable`. */
export function jobChanges(database: Database, isChangeable: (job: ChangeableJob) => boolean): JobChanges {
  const find = database.prepare(sql.FIND).pluck();
  const jobsOf = database.prepare<[number], ChangeableJob>(sql.JOBS_TO_CHANGE);
  const tally = eventTally(database);
  const pageOf = openJobPages(database);

  /** Changes the jobs of events that `isChosen`. Returns the number of jobs of each event. */
  const changeJobs = atomic(
    database,
    (events: readonly number[], isChosen: (event: number, job: ChangeableJob) => boolean, change: ChangeJob) =>
      tally.count((moves) =>
        events.map((event) => {
          const before = tally.statusOf(event);
          const jobs = jobsOf.all(event).filter((job) => isChangeable(job) && isChosen(event, job));
          for (const job of jobs) change(event, job, moves);
          if (jobs.length > 0) moves.event(event, before, tally.statusOf(event));
          return jobs.length;
        }),
      ),
  );

  return {
    ofEvent({ eventId, source }, change) {
      const event = find.get(eventId, source) as number | undefined;
      if (event === undefined) return 0;
      const [count = 0] = changeJobs([event], () => true, change);
      return count;
    },
    ofPage(filter, page, change) {
      const { events, next } = pageOf(filter, page);
      const isFound = (event: number, job: ChangeableJob) => isStillFound(job, events.get(event) ?? [], filter);
      const counts = changeJobs([...events.keys()], isFound, change);
      return { count: counts.filter((count) => count > 0).length, next };
    },
  };
}
