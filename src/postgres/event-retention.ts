import { statusOf } from "../events/event.ts";
import { MAX_COMPARED_EVENTS } from "../events/limits.ts";
import { createMoves } from "../events/moves.ts";
import { chooseEvents, chooseIds, type Expired, type PurgeRow, positionOf } from "../events/purge-choice.ts";
import { endOf } from "../events/retention.ts";
import type { Backlog, EventStore, PurgedPage, PurgeRequest } from "../events/store.ts";
import {
  COMPARED_AFTER,
  COMPARED_BEFORE,
  COMPARED_LATER,
  createTimeline,
  type PlausibleTime,
  type TimesAround,
} from "../events/timeline.ts";
import { parseWrongTimes, WRONG_TIMES, withNote } from "../events/wrong-clock.ts";
import { TABLES_OF_EVENT } from "../storage/tables.ts";
import type { Postgres, Queries } from "./connection.ts";
import { BYTES_PER_EVENT, type EventTally, TOTALS, writeMoves } from "./event-tally.ts";
import { type JobRow, LOCK_CONTENTS, lockJobs } from "./job-rows.ts";
import { writeMetadata } from "./metadata.ts";
import { lockLines, promote } from "./ordering.ts";
import { removeOldStats } from "./stats.ts";
import { integers } from "./values.ts";

/**
 * The next events with contents, oldest first, and whether they are before their fan-out: after this event, limit. Each
 * is looked up by itself: a join in order would read all identities between two events with contents.
 */
export const CANDIDATES = `
SELECT event, received_at AS "receivedAt", size AS bytes,
  (SELECT count(*) FROM authserve.unrouted WHERE unrouted.event = first.event) > 0 AS "isPending"
FROM (SELECT event FROM authserve.contents WHERE event > $1 ORDER BY event LIMIT $2) AS first,
  LATERAL (SELECT * FROM authserve.events WHERE id = event LIMIT 1) AS found
ORDER BY event`;

/**
 * The newest times of events after a page, and before it if they are not after those, and the wrong times: its first
 * event, now.
 */
const TIMES_AROUND = `
SELECT (SELECT value FROM authserve.metadata WHERE key = '${WRONG_TIMES}') AS "wrongTimes", later, (
  SELECT max(received_at) FROM (
    SELECT received_at FROM authserve.events WHERE id < $1 ORDER BY id DESC LIMIT ${COMPARED_BEFORE}) AS before
  WHERE received_at <= least($2, later)) AS earlier
FROM (SELECT max(received_at) AS later FROM (
  SELECT received_at FROM authserve.events WHERE id >= $1 + ${COMPARED_AFTER} ORDER BY id LIMIT ${COMPARED_LATER}) AS after) AS found`;

/** The newest event, and the wrong times. Servers that note at the same time note the same. */
const NEWEST = `
SELECT (SELECT coalesce(max(id), 0) FROM authserve.events) AS newest,
  (SELECT value FROM authserve.metadata WHERE key = '${WRONG_TIMES}') AS "wrongTimes"`;

const ENDED_JOBS = `
SELECT event, status, ended_at AS "endedAt" FROM authserve.jobs WHERE event = ANY($1::bigint[])`;

/**
 * Locks forced replays of events until the end of the transaction: events. One that is running adds jobs: then this
 * waits, and the statement after it sees the jobs.
 */
const LOCK_REROUTES = `
SELECT event FROM authserve.reroutes WHERE event = ANY($1::bigint[]) ORDER BY event FOR UPDATE`;

/** Remove events with all but their identities: events. */
const REMOVE_CONTENTS = TABLES_OF_EVENT.map(
  (table) => `DELETE FROM authserve.${table} WHERE event = ANY($1::bigint[])`,
);

/** Removes minutes before that of the oldest event. A clock that was set back must not hide later events. */
const REMOVE_MINUTES = `
DELETE FROM authserve.events_by_minute
WHERE minute < (SELECT received_at / 60000 FROM authserve.events WHERE id = (SELECT min(event) FROM authserve.contents))
  AND greatest(first_event, last_event) < (SELECT min(event) FROM authserve.contents)`;

/** The next ids, oldest first, but not the newest: after this one, limit. */
export const OLD_IDS = `
SELECT id AS event, received_at AS "receivedAt", size AS bytes,
  (SELECT count(*) FROM authserve.contents WHERE contents.event = id) > 0 AS "hasContents"
FROM authserve.events WHERE id > $1 AND id <> (SELECT max(id) FROM authserve.events) ORDER BY id LIMIT $2`;

/** Removes identities. Another purge may have removed some: events. */
const REMOVE_IDS = `DELETE FROM authserve.events WHERE id = ANY($1::bigint[])`;

type PageWork = Omit<PurgedPage, "fruitlessMs">;
type Position = ReturnType<typeof positionOf>;
type Totals = Pick<Backlog, "processed" | "failed" | "bytes"> & { processedBytes: number; failedBytes: number };
type EndedJob = Pick<JobRow, "event" | "status" | "endedAt">;

/** Removes what retention does not keep, in small transactions. PostgreSQL uses their space again by itself. */
export function eventRetention(postgres: Postgres, tally: EventTally): Pick<EventStore, "purge" | "noteClock"> {
  return {
    noteClock: (note) =>
      postgres.transaction(async (queries) => {
        const [row] = await queries.rows<{ newest: number; wrongTimes: string | null }>(NEWEST);
        const newest = row?.newest ?? 0;
        const times = parseWrongTimes(row?.wrongTimes);
        const noted = withNote(times, note, newest);
        if (noted !== times) await writeMetadata(queries, WRONG_TIMES, JSON.stringify(noted));
        return newest;
      }),
    async purge(request) {
      if (request.cursor === undefined && !request.isDryRun) await removeOldStats(postgres, request.now);
      const position = positionOf(request.cursor);
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

async function purgeContents(postgres: Postgres, request: PurgeRequest, position: Position): Promise<PageWork> {
  const [found] = await postgres.rows<Totals>(TOTALS);
  const totals = { ...(found as Totals), databaseBytes: (found as Totals).bytes, bytesPerEvent: BYTES_PER_EVENT };
  const rows = await postgres.rows<PurgeRow & { isPending: boolean }>(CANDIDATES, [
    position.after,
    MAX_COMPARED_EVENTS,
  ]);
  const pending = new Set(rows.filter(({ isPending }) => isPending).map(({ event }) => event));
  const readJobs = await readEndedJobs(postgres, rows);
  const jobsOf = (event: number) => (pending.has(event) ? null : readJobs(event));
  const timeOf = await readTimeline(postgres, rows, request.now);
  const chosen = chooseEvents(rows, { timeOf, jobsOf }, request, { ...position, totals });
  const { next } = chosen;
  if (request.isDryRun) return { events: chosen.events.length, ids: 0, bytes: chosen.bytes, next };
  const removed = await removeContents(postgres, chosen.events, request.now);
  return { events: removed.length, ids: 0, bytes: removed.reduce((sum, { bytes }) => sum + bytes, 0), next };
}

/** Returns what tells the times of a page of events. */
async function readTimeline(
  queries: Queries,
  [first]: readonly PurgeRow[],
  now: number,
): Promise<(row: PurgeRow) => PlausibleTime> {
  const [around] = await queries.rows<TimesAround & { wrongTimes: string | null }>(TIMES_AROUND, [
    first?.event ?? 0,
    Math.round(now),
  ]);
  return createTimeline(around as TimesAround, parseWrongTimes(around?.wrongTimes), now);
}

async function readEndedJobs(
  queries: Queries,
  events: readonly PurgeRow[],
): Promise<(event: number) => readonly EndedJob[]> {
  const rows = await queries.rows<EndedJob>(ENDED_JOBS, [integers(events.map(({ event }) => event))]);
  const byEvent = Map.groupBy(rows, ({ event }) => event);
  return (event) => byEvent.get(event) ?? [];
}

/**
 * Removes events with their jobs. Returns those that were still there, and have not been processed again since they
 * were read.
 */
async function removeContents(postgres: Postgres, found: readonly Expired[], now: number): Promise<Expired[]> {
  if (found.length === 0) return [];
  const ids = found.map(({ event }) => event);
  return postgres.transaction(async (queries) => {
    lockLines(queries, ids);
    void queries.run(LOCK_REROUTES, [integers(ids)]);
    const [jobs, there] = await Promise.all([
      lockJobs(queries, ids),
      queries.rows<{ event: number }>(LOCK_CONTENTS, [integers(ids)]),
    ]);
    const jobsOf = Map.groupBy(jobs, ({ event }) => event);
    const isThere = new Set(there.map(({ event }) => event));
    const removed = found.filter((read) => {
      const { status, endedAt } = endOf(read.receivedAt, jobsOf.get(read.event) ?? []);
      return isThere.has(read.event) && status === read.status && endedAt === read.endedAt;
    });
    const removedJobs = removed.flatMap(({ event }) => jobsOf.get(event) ?? []);
    const removedIds = integers(removed.map(({ event }) => event));
    for (const text of REMOVE_CONTENTS) void queries.run(text, [removedIds]);
    // A dead letter may have kept the later jobs of its ordering key waiting.
    promote(queries, blockedLines(removedJobs), now);
    countRemoved(queries, removed, removedJobs);
    void queries.run(REMOVE_MINUTES);
    return removed;
  });
}

const blockedLines = (jobs: readonly JobRow[]) =>
  jobs.flatMap(({ route, status, orderingKey }) =>
    status === "failed" && orderingKey !== null ? [{ route, orderingKey }] : [],
  );

function countRemoved(queries: Queries, removed: readonly Expired[], jobs: readonly JobRow[]): void {
  const moves = createMoves();
  const jobsOf = Map.groupBy(jobs, ({ event }) => event);
  for (const { event, bytes } of removed) {
    moves.eventRemoved(statusOf((jobsOf.get(event) ?? []).map(({ status }) => status)), bytes);
  }
  for (const { route, status } of jobs) moves.removed(route, status);
  writeMoves(queries, moves);
}

async function purgeIds(postgres: Postgres, request: PurgeRequest, position: Position): Promise<PageWork> {
  const rows = await postgres.rows<PurgeRow & { hasContents: boolean }>(OLD_IDS, [position.after, MAX_COMPARED_EVENTS]);
  const timeOf = await readTimeline(postgres, rows, request.now);
  const jobsOf = request.isDryRun ? await readEndedJobs(postgres, rows) : () => [];
  const { ids, next } = chooseIds(rows, { timeOf, jobsOf }, request, position, null);
  return { events: 0, ids: request.isDryRun ? ids.length : await removeIds(postgres, ids), bytes: 0, next };
}

async function removeIds(postgres: Postgres, ids: readonly number[]): Promise<number> {
  if (ids.length === 0) return 0;
  return postgres.transaction(async (queries) => {
    const removed = await queries.run(REMOVE_IDS, [integers(ids)]);
    const moves = createMoves();
    moves.idsRemoved(removed);
    writeMoves(queries, moves);
    return removed;
  });
}
