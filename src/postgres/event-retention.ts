import type { Status } from "../events/event.ts";
import { MAX_COMPARED_EVENTS } from "../events/limits.ts";
import {
  addTaken,
  createPurgeRule,
  endOf,
  NOTHING_TAKEN,
  type PurgeRule,
  type StoredTotals,
  type Taken,
} from "../events/retention.ts";
import type { EventStore, PurgedPage, PurgeRequest } from "../events/store.ts";
import { createTimeline, type PlausibleTime, type TimesAround } from "../events/timeline.ts";
import type { Postgres, Queries } from "./connection.ts";
import { BYTES_PER_EVENT, createMoves, type EventTally, TOTALS, writeMoves } from "./event-tally.ts";
import { type JobRow, lockJobs } from "./job-rows.ts";
import { lockLines, promote } from "./ordering.ts";
import * as sql from "./retention-sql.ts";
import { removeOldStats } from "./stats.ts";
import { integers } from "./values.ts";

/** Where a purge goes on. `taken` is what a dry run has counted so far. */
interface Position {
  phase: "contents" | "ids";
  after: number;
  taken: Taken;
}

type PageWork = Omit<PurgedPage, "fruitlessMs">;

const START: Position = { phase: "contents", after: 0, taken: NOTHING_TAKEN };
const NOTHING = { events: 0, ids: 0, bytes: 0 };

interface TotalsRow {
  processed: number;
  processedBytes: number;
  failed: number;
  failedBytes: number;
  bytes: number;
}

interface CandidateRow {
  event: number;
  receivedAt: number;
  bytes: number;
}

/** An event to remove, as it was when it was read. */
interface Expired extends CandidateRow {
  status: Exclude<Status, "queued">;
  endedAt: number;
}

type EndedJob = Pick<JobRow, "event" | "status" | "endedAt">;

/** Removes what retention does not keep, in small transactions. PostgreSQL uses their space again by itself. */
export function eventRetention(postgres: Postgres, tally: EventTally): Pick<EventStore, "purge"> {
  return {
    async purge(request) {
      if (request.cursor === undefined && !request.isDryRun) await removeOldStats(postgres, request.now);
      const position = request.cursor === undefined ? START : (JSON.parse(request.cursor) as Position);
      const startedAt = performance.now();
      const page = await (position.phase === "contents"
        ? purgeContents(postgres, request, position)
        : purgeIds(postgres, request, position));
      tally.note();
      const hasWorked = page.events + page.ids > 0;
      return { ...page, fruitlessMs: hasWorked ? 0 : performance.now() - startedAt };
    },
  };
}

/** Finds and removes the next events. */
async function purgeContents(
  postgres: Postgres,
  { retention, now, limit, isDryRun = false }: PurgeRequest,
  { after, taken }: Position,
): Promise<PageWork> {
  const [totals] = await postgres.rows<TotalsRow>(TOTALS);
  const rule = createPurgeRule(retention, withoutTaken(totals as TotalsRow, taken), now);
  const rows = await postgres.rows<CandidateRow & { isUnrouted: boolean }>(sql.CANDIDATES, [
    after,
    MAX_COMPARED_EVENTS,
  ]);
  const jobsOf = await readEndedJobs(postgres, rows);
  const found: Expired[] = [];
  const timeOf = await readTimeline(postgres, rows, now);
  let last = after;
  let isDone = false;
  for (const { isUnrouted, ...row } of rows) {
    const { at: receivedAt, isAhead } = timeOf(row.receivedAt);
    const isYoung = rule.isDoneAt(receivedAt);
    isDone = isYoung && !isAhead;
    if (isDone || found.length === limit) break;
    last = row.event;
    const event = isUnrouted || isYoung ? null : expiry({ ...row, receivedAt }, jobsOf(row.event), rule);
    if (event) found.push(event);
  }
  const events = isDryRun ? found : await removeContents(postgres, found, now);
  const hasMore = !isDone && (found.length === limit || rows.length === MAX_COMPARED_EVENTS);
  const next: Position = hasMore
    ? { phase: "contents", after: last, taken: isDryRun ? addTaken(taken, events) : taken }
    : { ...START, phase: "ids" };
  const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
  return { events: events.length, ids: 0, bytes, next: JSON.stringify(next) };
}

/** Returns what tells the times of a page of events. */
async function readTimeline(
  queries: Queries,
  [first]: readonly CandidateRow[],
  now: number,
): Promise<(receivedAt: number) => PlausibleTime> {
  const [around] = await queries.rows<TimesAround>(sql.TIMES_AROUND, [first?.event ?? 0, Math.round(now)]);
  return createTimeline(around as TimesAround, now);
}

async function readEndedJobs(
  queries: Queries,
  events: readonly CandidateRow[],
): Promise<(event: number) => readonly EndedJob[]> {
  const rows = await queries.rows<EndedJob>(sql.ENDED_JOBS, [integers(events.map(({ event }) => event))]);
  const byEvent = Map.groupBy(rows, ({ event }) => event);
  return (event) => byEvent.get(event) ?? [];
}

/** An event with its status if a rule takes it, else null. */
function expiry(row: CandidateRow, jobs: readonly EndedJob[], rule: PurgeRule): Expired | null {
  const { status, endedAt } = endOf(row.receivedAt, jobs);
  return rule.takes({ status, endedAt, bytes: row.bytes }) && status !== "queued" ? { ...row, status, endedAt } : null;
}

function withoutTaken(found: TotalsRow, { processed, failed }: Taken): StoredTotals {
  return {
    processed: { count: found.processed - processed.count, bytes: found.processedBytes - processed.bytes },
    failed: { count: found.failed - failed.count, bytes: found.failedBytes - failed.bytes },
    databaseBytes: found.bytes - processed.bytes - failed.bytes - BYTES_PER_EVENT * (processed.count + failed.count),
  };
}

/** Removes events with their jobs. Returns those that were still there, and have not been processed again since they were read. */
async function removeContents(postgres: Postgres, found: readonly Expired[], now: number): Promise<Expired[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ event }) => event);
  return postgres.transaction(async (queries) => {
    lockLines(queries, ids);
    void queries.run(sql.LOCK_REROUTES, [integers(ids)]);
    const [jobs, there] = await Promise.all([
      lockJobs(queries, ids),
      queries.rows<{ event: number }>(sql.LOCK_CONTENTS, [integers(ids)]),
    ]);
    const jobsOf = Map.groupBy(jobs, ({ event }) => event);
    const isThere = new Set(there.map(({ event }) => event));
    const removed = found.filter((read) => {
      const { status, endedAt } = endOf(read.receivedAt, jobsOf.get(read.event) ?? []);
      return isThere.has(read.event) && status === read.status && endedAt === read.endedAt;
    });
    const removedJobs = removed.flatMap(({ event }) => jobsOf.get(event) ?? []);
    const removedIds = integers(removed.map(({ event }) => event));
    for (const text of sql.REMOVE_CONTENTS) void queries.run(text, [removedIds]);
    // A dead letter may have kept the later jobs of its ordering key waiting.
    promote(queries, blockedLines(removedJobs), now);
    countRemoved(queries, removed, removedJobs);
    void queries.run(sql.REMOVE_MINUTES);
    return removed;
  });
}

const blockedLines = (jobs: readonly JobRow[]) =>
  jobs.flatMap(({ route, status, orderingKey }) =>
    status === "failed" && orderingKey !== null ? [{ route, orderingKey }] : [],
  );

function countRemoved(queries: Queries, removed: readonly Expired[], jobs: readonly JobRow[]): void {
  const moves = createMoves();
  const withJobs = new Set(jobs.map(({ event }) => event));
  for (const { event, status, bytes } of removed) moves.eventRemoved(status, bytes, withJobs.has(event));
  for (const { route, status } of jobs) moves.removed(route, status);
  writeMoves(queries, moves);
}

/** Finds and removes the next ids whose events are removed. */
async function purgeIds(
  postgres: Postgres,
  { retention, now, limit, isDryRun = false }: PurgeRequest,
  position: Position,
): Promise<PageWork> {
  const cutoff = now - retention.idsMs;
  const rows = await postgres.rows<CandidateRow & { hasContents: boolean }>(sql.OLD_IDS, [
    position.after,
    MAX_COMPARED_EVENTS,
  ]);
  const timeOf = await readTimeline(postgres, rows, now);
  const timed = rows.map((row) => ({ ...row, ...timeOf(row.receivedAt) }));
  const isDone = timed.some(({ at, isAhead }) => at > cutoff && !isAhead);
  const old = timed.filter(({ at }) => at <= cutoff).map((row) => ({ ...row, receivedAt: row.at }));
  const rule = createPurgeRule(retention, { ...NOTHING_TAKEN, databaseBytes: 0 }, now);
  const jobsOf = isDryRun ? await readEndedJobs(postgres, old) : () => [];
  // In a dry run the expired events are still there.
  const gone = old.filter((row) => !row.hasContents || (isDryRun && expiry(row, jobsOf(row.event), rule) !== null));
  const ids = gone.slice(0, limit).map(({ event }) => event);
  const removed = isDryRun ? ids.length : await removeIds(postgres, ids);
  const isFull = ids.length === limit;
  const hasMore = isFull || (rows.length === MAX_COMPARED_EVENTS && !isDone);
  const after = (isFull ? ids.at(-1) : rows.at(-1)?.event) ?? 0;
  const next = hasMore ? JSON.stringify({ ...position, after }) : null;
  return { ...NOTHING, ids: removed, next };
}

async function removeIds(postgres: Postgres, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  return postgres.transaction(async (queries) => {
    const removed = await queries.run(sql.REMOVE_IDS, [integers(ids)]);
    const moves = createMoves();
    moves.idsRemoved(removed);
    writeMoves(queries, moves);
    return removed;
  });
}
