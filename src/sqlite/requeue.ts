import type { JobStatus } from "../events/event.ts";
import type { Database } from "./database.ts";
import type { TallyMoves } from "./event-tally.ts";
import * as sql from "./events-sql.ts";

/** A job that a replay or a discard may change. */
export interface ChangeableJob {
  route: string;
  status: JobStatus;
  orderingKey: string | null;
  leaseOwner: string | null;
}

/** Queues an ended job of an event again, with an ordering key. The move of the event is not recorded. */
type Requeue = (event: number, job: ChangeableJob, orderingKey: string | null, now: number, moves: TallyMoves) => void;

/** Prepares the replay of a job. */
export function jobRequeue(database: Database): Requeue {
  const requeue = database.prepare(sql.REQUEUE);
  const promote = database.prepare(sql.PROMOTE);
  const removeDeadLetter = database.prepare(sql.REMOVE_DEAD_LETTER);

  return (event, { route, status, orderingKey: earlierKey }, orderingKey, now, moves) => {
    requeue.run({ event, route, orderingKey, dueAt: orderingKey === null ? now : null });
    removeDeadLetter.run(event, route);
    // A job that gets another key leaves the line of its earlier one.
    for (const key of new Set([orderingKey, earlierKey])) {
      if (key !== null) promote.run({ route, orderingKey: key, now });
    }
    moves.job(route, status, "queued");
  };
}
