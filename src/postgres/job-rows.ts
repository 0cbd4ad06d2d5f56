import type { JobStatus } from "../events/event.ts";
import type { AttemptOutcome } from "../events/job.ts";
import type { Origin } from "../events/moves.ts";
import type { Queries } from "./connection.ts";
import { booleans, columnsOf, integers, texts } from "./values.ts";

/** A row of the table of jobs, with the origin of its event. */
export interface JobRow extends Origin {
  event: number;
  route: string;
  status: JobStatus;
  attempts: number;
  probes: number;
  attemptsBeforeReplay: number;
  isReplay: boolean;
  replays: number;
  orderingKey: string | null;
  inLine: boolean;
  dueAt: number | null;
  leaseOwner: string | null;
  claimedAt: number | null;
  endedAt: number | null;
  lastError: string | null;
}

/** An ended attempt. */
export interface AttemptRow {
  event: number;
  route: string;
  attempt: number;
  startedAt: number;
  finishedAt: number;
  outcome: AttemptOutcome;
  error: string | null;
  response: string | null;
  isProbe: boolean;
  responseStatus: number | null;
  replay: number;
  attemptOfBudget: number;
}

/** Why a job has ended without success, and when. */
interface EndRow {
  event: number;
  route: string;
  at: number;
  reason: string;
}

/**
 * Locks the jobs of some events and returns them in order of event and route: events. Siblings are locked too, because
 * the status of an event depends on all its jobs.
 */
const LOCK = `
SELECT event, route, status, attempts, probes, attempts_before_replay AS "attemptsBeforeReplay", is_replay AS "isReplay",
  replays, ordering_key AS "orderingKey", in_line AS "inLine", due_at AS "dueAt", lease_owner AS "leaseOwner",
  claimed_at AS "claimedAt", ended_at AS "endedAt", last_error AS "lastError",
  source, received_at AS "receivedAt", size
FROM authserve.jobs, LATERAL (SELECT source, received_at, size FROM authserve.events WHERE id = event LIMIT 1) AS origin
WHERE event = ANY($1::bigint[]) ORDER BY event, route FOR UPDATE OF jobs`;

/** Writes jobs as they are now, new ones and locked ones: a column each, in the order of {@link JobRow}. */
const WRITE = `
INSERT INTO authserve.jobs (event, route, status, attempts, probes, attempts_before_replay, is_replay, replays, ordering_key,
  in_line, due_at, lease_owner, claimed_at, ended_at, last_error)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::boolean[],
  $8::bigint[], $9::text[], $10::boolean[], $11::bigint[], $12::text[], $13::bigint[], $14::bigint[], $15::text[])
ON CONFLICT (event, route) DO UPDATE SET status = excluded.status, attempts = excluded.attempts,
  probes = excluded.probes, attempts_before_replay = excluded.attempts_before_replay, is_replay = excluded.is_replay,
  replays = excluded.replays, ordering_key = excluded.ordering_key, in_line = excluded.in_line, due_at = excluded.due_at,
  lease_owner = excluded.lease_owner, claimed_at = excluded.claimed_at, ended_at = excluded.ended_at,
  last_error = excluded.last_error`;

/** Adds ended attempts to the history: a column each, in the order of {@link AttemptRow}. */
const ADD_ATTEMPTS = `
INSERT INTO authserve.attempts (event, route, attempt, started_at, finished_at, outcome, error, response, is_probe,
  response_status, replay, attempt_of_budget)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[], $7::text[], $8::text[],
  $9::boolean[], $10::bigint[], $11::bigint[], $12::bigint[])`;

const ADD_DEAD_LETTERS = `
INSERT INTO authserve.dead_letters (event, route, failed_at, reason)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])`;

const REMOVE_DEAD_LETTERS = `
DELETE FROM authserve.dead_letters WHERE (event, route) IN (SELECT * FROM unnest($1::bigint[], $2::text[]))`;

const ADD_DISCARDS = `
INSERT INTO authserve.discards (event, route, discarded_at, reason)
SELECT * FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
ON CONFLICT (event, route) DO UPDATE SET discarded_at = excluded.discarded_at, reason = excluded.reason`;

/** Locks the jobs of some events until the end of the transaction. */
export function lockJobs(queries: Queries, events: readonly number[]): Promise<JobRow[]> {
  return queries.rows<JobRow>(LOCK, [integers(events)]);
}

/** What a transaction writes besides jobs. */
export interface Records {
  attempts: AttemptRow[];
  deadLetters: EndRow[];
  noDeadLetters: Pick<EndRow, "event" | "route">[];
  discards: EndRow[];
}

/** Writes jobs and records in a transaction. */
export function writeJobs(queries: Queries, jobs: readonly JobRow[], records: Records): void {
  const { attempts, deadLetters, noDeadLetters, discards } = records;
  if (jobs.length > 0) void queries.run(WRITE, columnsOfJobs(jobs));
  if (attempts.length > 0) void queries.run(ADD_ATTEMPTS, columnsOfAttempts(attempts));
  if (noDeadLetters.length > 0) void queries.run(REMOVE_DEAD_LETTERS, columnsOfNames(noDeadLetters));
  if (deadLetters.length > 0) void queries.run(ADD_DEAD_LETTERS, columnsOfEnds(deadLetters));
  if (discards.length > 0) void queries.run(ADD_DISCARDS, columnsOfEnds(discards));
}

const NAME = { event: integers, route: texts };
const columnsOfNames = (names: readonly Pick<EndRow, "event" | "route">[]) => columnsOf(names, NAME);
const columnsOfEnds = (rows: readonly EndRow[]) => columnsOf(rows, { ...NAME, at: integers, reason: texts });

const columnsOfAttempts = (rows: readonly AttemptRow[]) =>
  columnsOf(rows, {
    ...NAME,
    attempt: integers,
    startedAt: integers,
    finishedAt: integers,
    outcome: texts,
    error: texts,
    response: texts,
    isProbe: booleans,
    responseStatus: integers,
    replay: integers,
    attemptOfBudget: integers,
  });

const columnsOfJobs = (rows: readonly JobRow[]) =>
  columnsOf(rows, {
    ...NAME,
    status: texts,
    attempts: integers,
    probes: integers,
    attemptsBeforeReplay: integers,
    isReplay: booleans,
    replays: integers,
    orderingKey: texts,
    inLine: booleans,
    dueAt: integers,
    leaseOwner: texts,
    claimedAt: integers,
    endedAt: integers,
    lastError: texts,
  });

/** Locks the contents of events until the end of the transaction. Another purge may have removed some: events. */
export const LOCK_CONTENTS = `
SELECT event FROM authserve.contents WHERE event = ANY($1::bigint[]) ORDER BY event FOR UPDATE`;
