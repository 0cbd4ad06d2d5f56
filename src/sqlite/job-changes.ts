import type { JobStatus } from "../events/event.ts";
import { isStillFound } from "../events/open-job-page.ts";
import type { CountedPage, EventName, JobFilter, PageRequest } from "../events/store.ts";
import { findOpenJobs } from "../storage/open-jobs.ts";
import { runSync } from "../storage/query.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally, type TallyMoves } from "./event-tally.ts";
import { promotion } from "./ordering.ts";
import { createRun } from "./queries.ts";

/** A job that a replay or a discard may change. */
interface ChangeableJob {
  route: string;
  status: JobStatus;
  orderingKey: string | null;
  leaseOwner: string | null;
}

/** Prepares what finds an event by its name, and its jobs. */
export function jobFinder(database: Database) {
  const find = database
    .prepare<[string, string], number>("SELECT id FROM events WHERE event_id = ? AND source = ?")
    .pluck();
  const jobs = database.prepare<[number], ChangeableJob>(
    "SELECT route, status, ordering_key AS orderingKey, lease_owner AS leaseOwner FROM jobs WHERE event = ?",
  );
  return {
    eventOf: ({ eventId, source }: EventName) => find.get(eventId, source) as number | undefined,
    jobsOf: (event: number) => jobs.all(event),
  };
}

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
  const { eventOf, jobsOf } = jobFinder(database);
  const tally = eventTally(database);
  const run = createRun(database);

  /** Changes the jobs of events that `isChosen`. Returns the number of jobs of each event. */
  const changeJobs = atomic(
    database,
    (events: readonly number[], isChosen: (event: number, job: ChangeableJob) => boolean, change: ChangeJob) =>
      tally.count((moves) =>
        events.map((event) => {
          const before = tally.statusOf(event);
          const jobs = jobsOf(event).filter((job) => isChangeable(job) && isChosen(event, job));
          for (const job of jobs) change(event, job, moves);
          if (jobs.length > 0) moves.event(event, before, tally.statusOf(event));
          return jobs.length;
        }),
      ),
  );

  return {
    ofEvent(name, change) {
      const event = eventOf(name);
      if (event === undefined) return 0;
      const [count = 0] = changeJobs([event], () => true, change);
      return count;
    },
    ofPage(filter, page, change) {
      const { events, next } = runSync(findOpenJobs(filter, page), run);
      const isFound = (event: number, job: ChangeableJob) => isStillFound(job, events.get(event) ?? [], filter);
      const counts = changeJobs([...events.keys()], isFound, change);
      return { count: counts.filter((count) => count > 0).length, next };
    },
  };
}

const REMOVE_DEAD_LETTER = "DELETE FROM dead_letters WHERE event = ? AND route = ?";

/** Discards a job of an event. The move of the event is not recorded. */
type Discard = (
  event: number,
  job: Pick<ChangeableJob, "route" | "status" | "orderingKey">,
  why: { reason: string; now: number },
  moves: TallyMoves,
) => void;

/** Prepares the discard of a job. */
export function jobDiscard(database: Database): Discard {
  const discard = database.prepare(`
    UPDATE jobs SET status = 'discarded', due_at = NULL, in_line = 0, ended_at = ?, lease_owner = NULL,
      claimed_at = NULL
    WHERE event = ? AND route = ?`);
  const add = discardRecord(database);
  const removeDeadLetter = database.prepare(REMOVE_DEAD_LETTER);
  const promote = promotion(database);

  return (event, { route, status, orderingKey }, { reason, now }, moves) => {
    discard.run(now, event, route);
    add({ event, route, reason, now });
    removeDeadLetter.run(event, route);
    promote(route, orderingKey, now);
    moves.job(route, status, "discarded");
  };
}

/** Prepares the record of why a job was discarded. */
export function discardRecord(database: Database) {
  const add = database.prepare(`
    INSERT INTO discards (event, route, discarded_at, reason) VALUES (@event, @route, @now, @reason)
    ON CONFLICT DO UPDATE SET discarded_at = excluded.discarded_at, reason = excluded.reason`);
  return (record: { event: number; route: string; reason: string; now: number }) => void add.run(record);
}

/** Queues an ended job of an event again, with an ordering key. The move of the event is not recorded. */
type Requeue = (event: number, job: ChangeableJob, orderingKey: string | null, now: number, moves: TallyMoves) => void;

/** Prepares the replay of a job. */
export function jobRequeue(database: Database): Requeue {
  // `@dueAt` is null if it waits in line.
  const requeue = database.prepare(`
    UPDATE jobs SET status = 'queued', ordering_key = @orderingKey, in_line = @orderingKey IS NOT NULL, due_at = @dueAt,
      is_replay = 1, replays = replays + 1, attempts_before_replay = attempts
    WHERE event = @event AND route = @route`);
  const promote = promotion(database);
  const removeDeadLetter = database.prepare(REMOVE_DEAD_LETTER);

  return (event, { route, status, orderingKey: earlierKey }, orderingKey, now, moves) => {
    requeue.run({ event, route, orderingKey, dueAt: orderingKey === null ? now : null });
    removeDeadLetter.run(event, route);
    // A job that gets another key leaves the line of its earlier one.
    for (const key of new Set([orderingKey, earlierKey])) promote(route, key, now);
    moves.job(route, status, "queued");
  };
}
