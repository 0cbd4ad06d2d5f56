import type { Status } from "../events/event.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";

/** The status of an event, derived from its jobs. An event that needs no jobs is processed. */
export function statusOf(jobs: readonly Status[]): Status {
  if (jobs.includes("queued")) return "queued";
  return jobs.includes("failed") ? "failed" : "processed";
}

/** Records that an event moved from one status to another. */
export type RecordMove = (from: Status, to: Status) => void;

/** Counts the events in each status, in the transaction that changes their jobs. */
export interface EventTally {
  /** The status of an event that has jobs. */
  statusOf(event: number): Status;
  /** Runs a part of a transaction and adds the moves that it records. */
  count<T>(part: (record: RecordMove) => T): T;
}

/** Prepares the tally of a database. */
export function eventTally(database: Database): EventTally {
  const statuses = database.prepare(sql.JOB_STATUSES).pluck();
  const add = database.prepare(sql.TALLY_MOVED);
  return {
    statusOf: (event) => statusOf(statuses.all(event) as Status[]),
    count(part) {
      const moved = { queued: 0, processed: 0, failed: 0 };
      const result = part((from, to) => {
        moved[from]--;
        moved[to]++;
      });
      if (Object.values(moved).some((number) => number !== 0)) add.run(moved.queued, moved.processed, moved.failed);
      return result;
    },
  };
}
