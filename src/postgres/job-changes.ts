import { ERASED, type Erasure } from "../events/erasure.ts";
import { statusOf } from "../events/event.ts";
import { createMoves, type Moves } from "../events/moves.ts";
import { OUTCOME_OF } from "../events/stats.ts";
import type { Postgres, Queries } from "./connection.ts";
import { readErasures } from "./erasures.ts";
import { type EventTally, writeMoves } from "./event-tally.ts";
import { type AttemptRow, type JobRow, lockJobs, type Records, writeJobs } from "./job-rows.ts";
import { type Line, lockLines, promote } from "./ordering.ts";

/** How an attempt has ended. */
type AttemptEnd = Omit<AttemptRow, "event" | "route" | "attempt" | "replay" | "attemptOfBudget">;

/** What a transaction changes of some events. Changed jobs are written, counted, and promoted in their lines. */
export interface Changes extends Omit<Records, "attempts"> {
  /** The locked jobs by event. A changed one is marked by {@link Changes.change}. */
  jobsOf(event: number): readonly JobRow[];
  job(event: number, route: string): JobRow | undefined;
  /** Ends an attempt of a locked job, with its next status. */
  endAttempt(job: JobRow, ended: AttemptEnd, to: keyof typeof OUTCOME_OF): void;
  /** The erasure of an event with a job whose attempt was running then. */
  erasureOf(event: number): Erasure | undefined;
  /** Changes a locked job. */
  change(job: JobRow, members: Partial<JobRow>): void;
  /** Adds a job to an event. */
  add(job: JobRow): void;
}

/** The events whose jobs are changed, and the lines that added jobs belong to. */
interface Scope {
  events: readonly number[];
  lines?: readonly Line[];
  now: number;
}

/**
 * Changes jobs in one transaction: locks those of the events, lets `decide` change them, and writes the difference.
 * What is decided depends on the locked rows only, so that two transactions never decide on the same state.
 */
export async function changeJobs<T>(
  postgres: Postgres,
  tally: EventTally,
  { events, lines = [], now }: Scope,
  decide: (changes: Changes, queries: Queries) => T | Promise<T>,
): Promise<T> {
  const result = await postgres.transaction(async (queries) => {
    lockLines(queries, events, lines);
    const locked = await lockJobs(queries, events);
    // A running job is marked by the erasure. Its row is read anew once it is locked, unlike that of the erasure.
    const marked = locked.filter(({ lastError }) => lastError === ERASED).map(({ event }) => event);
    const changes = createChanges(locked, marked.length === 0 ? new Map() : await readErasures(queries, marked));
    const decided = await decide(changes, queries);
    changes.write(queries, now);
    return decided;
  });
  tally.note();
  return result;
}

interface WrittenChanges extends Changes {
  write(queries: Queries, now: number): void;
}

function createChanges(locked: readonly JobRow[], erasures: ReadonlyMap<number, Erasure>): WrittenChanges {
  const byEvent = new Map<number, JobRow[]>();
  for (const job of locked) byEvent.set(job.event, [...(byEvent.get(job.event) ?? []), job]);
  const before = new Map(Array.from(byEvent, ([event, jobs]) => [event, statusesOf(jobs)]));
  const changed = new Set<JobRow>();
  const lines: Line[] = [];
  const moves = createMoves();
  const records: Records = { attempts: [], deadLetters: [], noDeadLetters: [], discards: [] };

  function noteLine({ route, orderingKey }: JobRow): void {
    if (orderingKey !== null) lines.push({ route, orderingKey });
  }

  return {
    ...records,
    jobsOf: (event) => byEvent.get(event) ?? [],
    erasureOf: (event) => erasures.get(event),
    job: (event, route) => byEvent.get(event)?.find((job) => job.route === route),
    endAttempt(job, ended, to) {
      const { event, route, attempts: attempt, replays: replay } = job;
      const attemptOfBudget = attempt - job.attemptsBeforeReplay;
      records.attempts.push({ event, route, attempt, replay, attemptOfBudget, ...ended });
      moves.attempt(job, { route, outcome: OUTCOME_OF[to], at: ended.finishedAt, isReplay: job.isReplay });
    },
    change(job, members) {
      noteLine(job);
      if (members.status !== undefined && members.status !== job.status)
        moves.job(job.route, job.status, members.status);
      Object.assign(job, members);
      noteLine(job);
      changed.add(job);
    },
    add(job) {
      byEvent.set(job.event, [...(byEvent.get(job.event) ?? []), job]);
      moves.job(job.route, null, job.status);
      noteLine(job);
      changed.add(job);
    },
    write(queries, now) {
      countEvents(byEvent, before, moves);
      writeJobs(queries, [...changed], records);
      promote(queries, lines, now);
      writeMoves(queries, moves);
    },
  };
}

const statusesOf = (jobs: readonly JobRow[]) => statusOf(jobs.map(({ status }) => status));

/** Counts the moves of events. An event that had no jobs was unrouted. */
function countEvents(
  byEvent: ReadonlyMap<number, readonly JobRow[]>,
  before: ReadonlyMap<number, ReturnType<typeof statusOf>>,
  moves: Moves,
): void {
  for (const [event, jobs] of byEvent) {
    moves.event(before.get(event) ?? "unrouted", statusesOf(jobs), jobs[0]?.size ?? 0);
  }
}
