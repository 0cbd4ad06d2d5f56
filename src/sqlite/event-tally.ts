import type { JobStatus, Status } from "../events/event.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";

/** The status of an event, derived from its jobs. An event that needs no jobs is processed. */
export function statusOf(jobs: readonly JobStatus[]): Status {
  if (jobs.includes("queued")) return "queued";
  return jobs.includes("failed") ? "failed" : "processed";
}

/** Records moves between statuses. */
export interface Moves {
  event(from: Status, to: Status): void;
  /** `from` is null for a new job. */
  job(route: string, from: JobStatus | null, to: JobStatus): void;
}

/** Counts events and jobs in each status, in the transaction that changes the jobs. */
export interface EventTally {
  /** The status of an event that has jobs. */
  statusOf(event: number): Status;
  /** Runs a part of a transaction and adds the moves that it records. */
  count<T>(part: (moves: Moves) => T): T;
}

type Differences = Record<JobStatus, number>;

const NONE: Readonly<Differences> = { queued: 0, processed: 0, failed: 0, discarded: 0 };

/** Prepares the tally of a database. */
export function eventTally(database: Database): EventTally {
  const statuses = database.prepare(sql.JOB_STATUSES).pluck();
  const addEvents = database.prepare(sql.TALLY_MOVED);
  const addJobs = database.prepare(sql.TALLY_JOBS);

  return {
    statusOf: (event) => statusOf(statuses.all(event) as JobStatus[]),
    count(part) {
      const events = { ...NONE };
      const routes = new Map<string, Differences>();
      const result = part({
        event(from, to) {
          events[from]--;
          events[to]++;
        },
        job(route, from, to) {
          let jobs = routes.get(route);
          if (!jobs) {
            jobs = { ...NONE };
            routes.set(route, jobs);
          }
          if (from !== null) jobs[from]--;
          jobs[to]++;
        },
      });
      if (hasMoves(events)) addEvents.run(events.queued, events.processed, events.failed);
      for (const [route, jobs] of routes) {
        if (hasMoves(jobs)) addJobs.run(route, jobs.queued, jobs.processed, jobs.failed, jobs.discarded);
      }
      return result;
    },
  };
}

const hasMoves = (differences: Differences) => Object.values(differences).some((number) => number !== 0);
