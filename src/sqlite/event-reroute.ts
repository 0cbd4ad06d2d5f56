import type { NewJob } from "../events/job.ts";
import type { EventName, EventStore, PendingEvent } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally, type TallyMoves } from "./event-tally.ts";
import { jobFinder, jobRequeue } from "./job-changes.ts";
import { promotion } from "./ordering.ts";

/** Gives events to the present routes anew, for a forced replay. */
export function eventReroute(database: Database): SyncPort<Pick<EventStore, "reroute" | "rerouted" | "addRerouted">> {
  const { eventOf, jobsOf } = jobFinder(database);
  // Gives an event to the present routes, unless it is removed or erased, waits for fan-out or is queued.
  const reroute = database.prepare(`
    INSERT INTO reroutes (event) SELECT @event WHERE @event <= (SELECT routed_to FROM tally)
      AND EXISTS (SELECT 1 FROM contents WHERE event = @event)
      AND NOT EXISTS (SELECT 1 FROM erasures WHERE event = @event)
      AND (NOT EXISTS (SELECT 1 FROM jobs WHERE event = @event)
        OR EXISTS (SELECT 1 FROM jobs WHERE event = @event AND status <> 'queued'))
    ON CONFLICT DO NOTHING`);
  const rerouted = database.prepare<unknown[], PendingEvent>(`
    SELECT id, source, type, received_at AS receivedAt
    FROM reroutes JOIN events ON id = event ORDER BY event LIMIT +?`);
  const remove = database.prepare("DELETE FROM reroutes WHERE event = ?");
  // `@dueAt` is null if it waits in line.
  const addJob = database.prepare(`
    INSERT INTO jobs (event, route, status, is_replay, replays, ordering_key, in_line, due_at)
    VALUES (@event, @route, 'queued', 1, 1, @orderingKey, @orderingKey IS NOT NULL, @dueAt)`);
  const promote = promotion(database);
  const requeue = jobRequeue(database);
  const tally = eventTally(database);

  function queue({ event, route, orderingKey, failure }: NewJob, now: number, moves: TallyMoves): void {
    const job = jobsOf(event).find((known) => known.route === route);
    if (job?.status === "queued" || failure !== undefined) return;
    if (job) {
      requeue(event, job, orderingKey, now, moves);
      return;
    }
    addJob.run({ event, route, orderingKey, dueAt: orderingKey === null ? now : null });
    promote(route, orderingKey, now);
    moves.job(route, null, "queued");
  }

  return {
    reroute(name: EventName) {
      const event = eventOf(name);
      return event !== undefined && reroute.run({ event }).changes === 1;
    },
    rerouted: (limit) => rerouted.all(limit),
    addRerouted: atomic(database, (events: number[], jobs: NewJob[], now: number) => {
      const statuses = new Map(events.map((event) => [event, tally.statusOf(event)]));
      tally.count((moves) => {
        for (const job of jobs) queue(job, now, moves);
        for (const [event, before] of statuses) {
          moves.event(event, before, tally.statusOf(event));
          remove.run(event);
        }
      });
    }),
  };
}
