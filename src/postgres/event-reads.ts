import {
  type ConflictRow,
  type DetailAttempt,
  type DetailJob,
  type DetailRow,
  detailOf,
  type EventRow,
  type RepeatRow,
} from "../events/detail.ts";
import { LAST_CHARACTER, MAX_CONFLICT_BYTES, MAX_SHOWN_REPEATS } from "../events/limits.ts";
import { matchesError } from "../events/matches-error.ts";
import { isSearched, JOBS_WINDOW, type Listed, searchWindows, WINDOW } from "../events/search-window.ts";
import type { EventDetail, EventFilter, EventPage, EventStore } from "../events/store.ts";
import { type ListedEvent, listPage } from "../events/summary.ts";
import { openedHeaders, openedResponse } from "../storage/opened-details.ts";
import { orNull, type PayloadCodec, ROW, type RowContent, SEALED } from "../storage/payload-codec.ts";
import type { Postgres, Queries } from "./connection.ts";
import { EVENT, LISTED, listStatements } from "./lists-sql.ts";
import { integers } from "./values.ts";

type Of<Row> = Row & { event: number };

/** The events with an id, of one source, or of every source when it is null: event id, source. */
const GET = `
SELECT ${EVENT}, address, secret, headers, content_type AS "contentType", payload, erased_at AS "erasedAt",
  erasures.reason AS "eraseReason", encode(payload_sha256, 'hex') AS "payloadSha256",
  EXISTS (SELECT 1 FROM authserve.reroutes WHERE reroutes.event = events.id) AS "isRerouted"
FROM authserve.events JOIN authserve.contents ON contents.event = events.id
  LEFT JOIN authserve.erasures ON erasures.event = events.id
WHERE event_id = $1 AND ($2::text IS NULL OR source = $2) ORDER BY source`;

/** The events whose ids are from one text up to another, of one source, or of every one when it is null, and limit. */
const STARTING_WITH = `
SELECT event_id AS "eventId", source FROM authserve.events JOIN authserve.contents ON contents.event = events.id
WHERE event_id >= $1 AND event_id <= $2 AND ($3::text IS NULL OR source = $3) ORDER BY event_id LIMIT $4`;

const NEWEST = `SELECT received_at AS "receivedAt" FROM authserve.events ORDER BY id DESC LIMIT 1`;

/** When the newest event was received. Null if there is none. */
export async function readNewest(queries: Queries): Promise<number | null> {
  const [row] = await queries.rows<{ receivedAt: number }>(NEWEST);
  return row?.receivedAt ?? null;
}

const JOBS = `
SELECT job.event, job.route, job.status, job.attempts - job.probes AS attempts, job.probes,
  job.attempts - job.attempts_before_replay AS "attemptsOfBudget", job.ordering_key AS "orderingKey", job.due_at AS "dueAt",
  job.lease_owner IS NOT NULL AS leased, job.ended_at AS "endedAt", job.last_error AS "lastError",
  failed_at AS "failedAt", dead_letters.reason AS "failReason", discarded_at AS "discardedAt",
  discards.reason AS "discardReason", paused_at AS "pausedAt", until_at AS "pausedUntil",
  earlier.source AS "earlierSource", earlier.event_id AS "earlierEventId", first.status AS "earlierStatus"
FROM authserve.jobs AS job LEFT JOIN authserve.dead_letters USING (event, route)
  LEFT JOIN authserve.discards USING (event, route) LEFT JOIN authserve.paused_routes USING (route)
  LEFT JOIN LATERAL (
    SELECT event, status FROM authserve.jobs AS other
    WHERE job.status = 'queued' AND job.due_at IS NULL AND other.route = job.route
      AND other.ordering_key = job.ordering_key AND other.in_line
    ORDER BY event LIMIT 1) AS first ON true
  LEFT JOIN authserve.events AS earlier ON earlier.id = first.event
WHERE job.event = ANY($1::bigint[]) ORDER BY job.event, job.route`;

const UNROUTED = `SELECT event FROM authserve.unrouted WHERE event = ANY($1::bigint[])`;

const HISTORY = `
SELECT event, route, attempt, started_at AS "startedAt", finished_at AS "finishedAt", outcome, error, response, response_status AS "responseStatus", is_probe AS "isProbe"
FROM authserve.attempts WHERE event = ANY($1::bigint[]) ORDER BY event, route, attempt`;

/** The conflicts of events, oldest first. Payloads beyond a number of bytes are null: events, bytes. */
const CONFLICTS = `
SELECT event, encode(payload_sha256, 'hex') AS "payloadSha256", deliveries, first_at AS "firstAt", last_at AS "lastAt", address, headers,
  CASE WHEN sum(length(payload)) OVER (PARTITION BY event ORDER BY first_at, payload_sha256) <= $2 THEN payload END AS payload
FROM authserve.conflicts WHERE event = ANY($1::bigint[]) ORDER BY event, first_at, payload_sha256 LIMIT ${MAX_SHOWN_REPEATS}`;

const REPEATS = `
SELECT event, number, event_id AS "eventId", type, deliveries, first_at AS "firstAt", last_at AS "lastAt", address, headers,
  replayed_as AS "replayedAs"
FROM authserve.repeats WHERE event = ANY($1::bigint[]) ORDER BY event, number LIMIT ${MAX_SHOWN_REPEATS}`;

/** Reads of stored events. Each reads one snapshot. */
export function eventReads(postgres: Postgres, codec: PayloadCodec): Pick<EventStore, "list" | "get" | "startingWith"> {
  const list = (filter: EventFilter) =>
    snapshot(postgres, async (queries) => listIn(queries, codec, filter, (await readListed(queries, filter)).oldest));
  const listWindow = (filter: EventFilter) => snapshot(postgres, (queries) => listIn(queries, codec, filter));
  return {
    list: (filter) => (isSearched(filter) ? searchEvents(postgres, filter, listWindow) : list(filter)),
    startingWith: (prefix, source, limit) =>
      postgres.rows(STARTING_WITH, [prefix, prefix + LAST_CHARACTER, source ?? null, limit]),
    get: (eventId, source) => snapshot(postgres, (queries) => getIn(queries, codec, eventId, source)),
  };
}

/**
 * The settings of a read. Without statistics the planner expects few rows: it would sort all of them instead of reading
 * an index in order.
 */
export const SETTINGS = [
  "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY",
  "SET LOCAL enable_bitmapscan = off",
];

function snapshot<T>(postgres: Postgres, read: (queries: Queries) => Promise<T>): Promise<T> {
  return postgres.transaction((queries) => {
    for (const setting of SETTINGS) void queries.run(setting);
    return read(queries);
  });
}

// Events whose errors are compared with a text at once.
const COMPARED = 1000;

/** Lists the events from the oldest one on. */
async function listIn(queries: Queries, codec: PayloadCodec, filter: EventFilter, oldest = 0): Promise<EventPage> {
  const { error, search, route, limit } = filter;
  const size = error === undefined && search === undefined ? limit : COMPARED;
  let next = { ...filter, after: String(Math.max(oldest - 1, Number(filter.after ?? 0))), limit: size };
  const found: ListedEvent[] = [];
  for (;;) {
    const rows = await readRows(queries, next);
    const isListed = ({ jobs }: ListedEvent) =>
      error === undefined ||
      jobs?.some((job) => (route === undefined || job.route === route) && matchesError(job.lastError, error));
    const listed = rows.filter(isListed);
    found.push(...(search === undefined ? listed : await thoseWith(queries, codec, listed, search)));
    if (rows.length < size || found.length >= limit) return listPage(found.slice(0, limit), filter);
    next = { ...next, before: String(rows.at(-1)?.id) };
  }
}

/** The encrypted payloads among those of events: events. */
const SEALED_PAYLOADS = `
SELECT event, headers AS text, payload AS bytes FROM authserve.contents
WHERE event = ANY($1::bigint[]) AND headers LIKE '${SEALED}'`;

/** The events whose payloads have a text. Those that are not encrypted have it. One whose key is missing has none. */
async function thoseWith(
  queries: Queries,
  codec: PayloadCodec,
  events: readonly ListedEvent[],
  search: string,
): Promise<ListedEvent[]> {
  const ids = integers(events.map(({ id }) => id));
  const rows = events.length === 0 ? [] : await queries.rows<RowContent & { event: number }>(SEALED_PAYLOADS, [ids]);
  const sealed = new Map(rows.map((row) => [row.event, row]));
  return events.filter(({ id, source, eventId }) => {
    const row = sealed.get(id);
    if (!row) return true;
    const content = orNull(() => codec.open(ROW.contents(source, eventId), row));
    return content !== null && Buffer.from(content.bytes).includes(search);
  });
}

async function readRows(queries: Queries, filter: EventFilter): Promise<ListedEvent[]> {
  const statements = listStatements(filter);
  const found = await Promise.all(statements.map(({ text, values }) => queries.rows<EventRow>(text, values)));
  const rows = found
    .flat()
    .sort((one, other) => other.id - one.id)
    .slice(0, filter.limit);
  const jobsOf = await readJobs(queries, rows);
  return rows.map((row) => ({ ...row, jobs: jobsOf(row.id) }));
}

/** Reads the jobs of events; null before fan-out. */
async function readJobs(queries: Queries, events: readonly EventRow[]): Promise<(event: number) => DetailJob[] | null> {
  if (events.length === 0) return () => null;
  const ids = integers(events.map(({ id }) => id));
  const [jobs, pending] = await Promise.all([
    queries.rows<Of<DetailJob>>(JOBS, [ids]),
    queries.rows<{ event: number }>(UNROUTED, [ids]),
  ]);
  const jobsOf = byEvent(jobs);
  const isPending = new Set(pending.map(({ event }) => event));
  return (event) => (isPending.has(event) ? null : jobsOf(event));
}

/** The rows of each event, without its number. */
function byEvent<Row extends object>(rows: readonly Of<Row>[]): (event: number) => Row[] {
  const groups = Map.groupBy(rows, ({ event }) => event);
  return (event) => (groups.get(event) ?? []).map(({ event: _, ...row }) => row as unknown as Row);
}

async function getIn(
  queries: Queries,
  codec: PayloadCodec,
  eventId: string,
  source: string | undefined,
): Promise<EventDetail[]> {
  const rows = (await queries.rows<DetailRow>(GET, [eventId, source ?? null])).map((row) => {
    const content = { text: row.headers, bytes: row.payload };
    const { text, bytes } = codec.open(ROW.contents(row.source, row.eventId), content);
    return { ...row, headers: text, payload: bytes };
  });
  const jobsOf = await readJobs(queries, rows);
  const ids = integers(rows.map(({ id }) => id));
  const [history, conflicts, repeats] = await Promise.all([
    queries.rows<Of<DetailAttempt>>(HISTORY, [ids]),
    queries.rows<Of<ConflictRow & { headers: string }>>(CONFLICTS, [ids, MAX_CONFLICT_BYTES + MAX_ADDED_BYTES]),
    queries.rows<Of<RepeatRow>>(REPEATS, [ids]),
  ]);
  const [historyOf, conflictsOf, repeatsOf] = [byEvent(history), byEvent(conflicts), byEvent(repeats)];
  return rows.map((row) =>
    detailOf(row, {
      jobs: jobsOf(row.id),
      history: historyOf(row.id).map((ended) => ({ ...ended, response: openedResponse(codec, row.id, ended) })),
      conflicts: openedConflicts(codec, row.id, conflictsOf(row.id)),
      repeats: repeatsOf(row.id).map((repeat) => ({ ...repeat, headers: openedHeaders(codec, row.id, repeat) })),
    }),
  );
}

/** What encryption may add to the payloads of conflicts: their headers, and a few bytes. */
const MAX_ADDED_BYTES = 1024 * 1024;

/** Oldest first. Payloads beyond the size limit are null. */
function openedConflicts(
  codec: PayloadCodec,
  event: number,
  rows: readonly (ConflictRow & { headers: string })[],
): ConflictRow[] {
  let read = 0;
  return rows.map(({ headers: text, payload: bytes, ...conflict }) => {
    const name = ROW.conflict(event, conflict.payloadSha256);
    const payload = bytes && (orNull(() => codec.open(name, { text, bytes }))?.bytes ?? null);
    read += payload?.length ?? 0;
    return { ...conflict, payload: read > MAX_CONFLICT_BYTES ? null : payload };
  });
}

// One statement must end within the time limit of the connection, also on a slow disk.
const WINDOW_BYTES = 64 * 1024 * 1024;

/** The first event of a window: before this event, from this one on, events, bytes. One event always fits. */
const WINDOW_START = `
SELECT min(event) AS start FROM (
  SELECT event, row_number() OVER newest AS nth, sum(size) OVER newest AS bytes
  FROM (SELECT event FROM authserve.contents WHERE event < $1 AND event >= $2 ORDER BY event DESC LIMIT $3) AS earlier,
    LATERAL (SELECT size FROM authserve.events WHERE id = event LIMIT 1) AS found
  WINDOW newest AS (ORDER BY event DESC ROWS UNBOUNDED PRECEDING)) AS sized
WHERE nth = 1 OR bytes <= $4`;

/** The oldest event that a filter can list, and the newest one. */
export async function readListed(queries: Queries, { since, route }: EventFilter): Promise<Listed> {
  const [{ oldest, newest, routedTo } = { oldest: 0, newest: 0, routedTo: 0 }] = await queries.rows<
    Listed & { routedTo: number }
  >(LISTED, [since ?? null]);
  return { oldest, newest: route === undefined ? newest : routedTo };
}

async function windowStart(queries: Queries, { before, oldest }: { before: number; oldest: number }): Promise<number> {
  const [window] = await queries.rows<{ start: number | null }>(WINDOW_START, [before, oldest, WINDOW, WINDOW_BYTES]);
  return window?.start ?? oldest;
}

/** Lists events window by window. `list` lists those of a window. */
async function searchEvents(
  queries: Queries,
  filter: EventFilter,
  list: (filter: EventFilter) => Promise<EventPage>,
): Promise<EventPage> {
  const windows = searchWindows(filter, await readListed(queries, filter));
  let step = windows.next();
  while (!step.done) {
    const { before, oldest, filterFrom } = step.value;
    const from =
      filter.search === undefined
        ? Math.max(oldest, before - JOBS_WINDOW)
        : await windowStart(queries, { before, oldest });
    step = windows.next({ from, page: await list(filterFrom(from)) });
  }
  return step.value;
}
