import { type JobStatus, type Status, statusOf } from "../events/event.ts";
import { createMoves, type Differences, EVENTS, MEMBERS } from "../events/moves.ts";
import type { Outcome } from "../events/stats.ts";
import type { Database } from "./database.ts";
import { statWriter } from "./stats.ts";
import { originReader } from "./stored-event.ts";

/** Records moves between statuses. */
export interface TallyMoves {
  event(event: number, from: Status, to: Status): void;
  /** `from` is null for a new job. */
  job(route: string, from: JobStatus | null, to: JobStatus): void;
  /** A job is removed with its event. */
  removed(route: string, from: JobStatus): void;
  /** An attempt has ended. */
  attempt(event: number, ended: EndedAttempt): void;
}

/** An ended attempt, for the statistics. `at` is in Unix milliseconds. */
interface EndedAttempt {
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
  count<T>(part: (moves: TallyMoves) => T): T;
}

/** Prepares the tally of a database. `reader` is the connection that reads the sizes of events. */
export function eventTally(database: Database, reader = database): EventTally {
  const statuses = database.prepare<[number], JobStatus>("SELECT status FROM jobs WHERE event = ?").pluck();
  const originOf = originReader(reader);
  const countStats = statWriter(database);
  const addEvents = database.prepare(`
    UPDATE tally SET queued = queued + ?, processed = processed + ?, failed = failed + ?, discarded = discarded + ?,
      unrouted = unrouted + ?, processed_bytes = processed_bytes + ?, failed_bytes = failed_bytes + ?`);
  const addJobs = database.prepare(`
    INSERT INTO route_tally (route, queued, processed, failed, discarded) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (route) DO UPDATE SET queued = queued + excluded.queued, processed = processed + excluded.processed,
      failed = failed + excluded.failed, discarded = discarded + excluded.discarded`);

  return {
    statusOf: (event) => statusOf(statuses.all(event) as JobStatus[]),
    count: (part) =>
      countStats((counts) => {
        const moves = createMoves(counts);
        const result = part({
          event(event, from, to) {
            if (from !== to) moves.event(from, to, originOf(event).size);
          },
          job: moves.job,
          removed: moves.removed,
          attempt: (event, ended) => moves.attempt(originOf(event), ended),
        });
        for (const [name, moved] of moves.differences) {
          if (!hasMoves(moved)) continue;
          const { queued, processed, failed, discarded, unrouted, processedBytes, failedBytes } = moved;
          if (name === EVENTS)
            addEvents.run(queued, processed, failed, discarded, unrouted, processedBytes, failedBytes);
          else addJobs.run(name, queued, processed, failed, discarded);
        }
        return result;
      }),
  };
}

const hasMoves = (moved: Differences) => MEMBERS.some((name) => moved[name] !== 0);
