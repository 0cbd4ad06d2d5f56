import type { NewJob } from "../events/job.ts";
import type { EventName, EventStore, UnroutedEvent } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally, type TallyMoves } from "./event-tally.ts";
import * as sql from "./events-sql.ts";
import { type ChangeableJob, jobRequeue } from "./requeue.ts";

/** Gives events to the present routes anew, for a forced replay. */
export function eventReroute(database: Database): SyncPort<Pick<EventStore, "reroute" | "rerouted" | "addRerouted">> {
  const find = database.prepare(sql.FIND).pluck();
  const reroute = database.prepare(sql.REROUTE);
  const rerouted = database.prepare<unknown[], UnroutedEvent>(sql.REROUTED);
  const remove = database.prepare(sql.REMOVE_REROUTE);
  const jobsOf = database.prepare<[number], ChangeableJob>(sql.JOBS_TO_CHANGE);
  const hasJobs = database.prepare(sql.JOB_STATUSES);
  const countRerouted = database.prepare(sql.TALLY_REROUTED);
  const addJob = database.prepare(sql.ADD_REPLAYED_JOB);
  const promote = database.prepare(sql.PROMOTE);
  const requeue = jobRequeue(database);
  const tally = eventTally(database);

  /** Queues a job, which may be an ended one. */
  function queue({ event, route, orderingKey }: NewJob, now: number, moves: TallyMoves): void {
    const job = jobsOf.all(event).find((known) => known.route === route);
    if (job?.status === "queued") return;
    if (job) {
      requeue(event, job, orderingKey, now, moves);
      return;
    }
    addJob.run({ event, route, orderingKey, dueAt: orderingKey === null ? now : null });
    if (orderingKey !== null) promote.run({ route, orderingKey, now });
    moves.job(route, null, "queued");
  }

  return {
    reroute({ eventId, source }: EventName) {
      const event = find.get(eventId, source) as number | undefined;
      return event !== undefined && reroute.run({ event }).changes === 1;
    },
    rerouted: (limit) => rerouted.all(limit),
    addRerouted: atomic(database, (events: number[], jobs: NewJob[], now: number) => {
      const statuses = new Map(events.map((event) => [event, tally.statusOf(event)]));
      const unrouted = events.filter((event) => hasJobs.get(event) === undefined);
      tally.count((moves) => {
        for (const job of jobs) queue(job, now, moves);
        for (const [event, before] of statuses) {
          moves.event(event, before, tally.statusOf(event));
          remove.run(event);
        }
        for (const event of unrouted) if (hasJobs.get(event) !== undefined) countRerouted.run();
      });
    }),
  };
}
