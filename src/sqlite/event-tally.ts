import { type JobStatus, type Status, statusOf } from "../events/event.ts";
import { attemptStat, type Outcome } from "../events/stats.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import { statWriter } from "./stats.ts";
import { originReader } from "./stored-event.ts";

/** Records moves between statuses. */
export interface Moves {
  event(event: number, from: Status, to: Status): void;
  /** `from` is null for a new job. */
  job(route: string, from: JobStatus | null, to: JobStatus): void;
  /** A job is removed with its event. */
  removed(route: string, from: JobStatus): void;
  /** An attempt has ended. */
  attempt(event: number, ended: EndedAttempt): void;
}

/** An ended attempt, for the statistics. `at` is in Unix milliseconds. */
export interface EndedAttempt {
  route: string;
  outcome: Outcome;
  at: number;
  isReplay: boolean;
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

/** Prepares the tally of a database. `reader` is the connection that reads the sizes of events. */
export function eventTally(database: Database, reader = database): EventTally {
  const statuses = database.prepare(sql.JOB_STATUSES).pluck();
  const originOf = originReader(reader);
  const stats = statWriter(database);
  const addEvents = database.prepare(sql.TALLY_MOVED);
  const addJobs = database.prepare(sql.TALLY_JOBS);

  return {
    statusOf: (event) => statusOf(statuses.all(event) as JobStatus[]),
    count(part) {
      const events = { ...NONE };
      const bytes = { ...NONE };
      const routes = new Map<string, Differences>();
      const jobsOf = (route: string) => {
        const known = routes.get(route);
        if (known) return known;
        const added = { ...NONE };
        routes.set(route, added);
        return added;
      };
      const result = stats.count((counts) =>
        part({
          event(event, from, to) {
            if (from === to) return;
            const { size } = originOf(event);
            events[from]--;
            events[to]++;
            bytes[from] -= size;
            bytes[to] += size;
          },
          job(route, from, to) {
            const jobs = jobsOf(route);
            if (from !== null) jobs[from]--;
            jobs[to]++;
          },
          removed: (route, from) => void jobsOf(route)[from]--,
          attempt: (event, ended) => counts.add(attemptStat(originOf(event), ended)),
        }),
      );
      if (hasMoves(events)) {
        addEvents.run(events.queued, events.processed, events.failed, bytes.processed, bytes.failed);
      }
      for (const [route, jobs] of routes) {
        if (hasMoves(jobs)) addJobs.run(route, jobs.queued, jobs.processed, jobs.failed, jobs.discarded);
      }
      return result;
    },
  };
}

const hasMoves = (differences: Differences) => Object.values(differences).some((number) => number !== 0);
