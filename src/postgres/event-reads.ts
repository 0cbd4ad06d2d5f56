import type { EventRow, ListedJobRow } from "../events/detail.ts";
import { matchesError } from "../events/matches-error.ts";
import { isSearched, JOBS_WINDOW, type Listed, namedBySearch, searchWindows, WINDOW } from "../events/search-window.ts";
import type { EventFilter, EventPage, EventStore } from "../events/store.ts";
import { type ListedEvent, listPage } from "../events/summary.ts";
import { isTypeList, typeList } from "../events/type-list.ts";
import { orNull, type PayloadCodec, ROW, type RowContent, SEALED } from "../storage/payload-codec.ts";
import type { Postgres, Queries } from "./connection.ts";
import { LISTED, listStatements, PLAINLY_HAS } from "./lists-sql.ts";
import { SETTINGS } from "./queries.ts";
import { integers } from "./values.ts";

type Of<Row> = Row & { event: number };

const NEWEST = `SELECT received_at AS "receivedAt" FROM authserve.events ORDER BY id DESC LIMIT 1`;

/** When the newest event was received. Null if there is none. */
export async function readNewest(queries: Queries): Promise<number | null> {
  const [row] = await queries.rows<{ receivedAt: number }>(NEWEST);
  return row?.receivedAt ?? null;
}

const JOBS = `
SELECT event, route, status, attempts - probes AS attempts, ordering_key AS "orderingKey", due_at AS "dueAt",
  lease_owner IS NOT NULL AS leased, ended_at AS "endedAt", last_error AS "lastError"
FROM authserve.jobs WHERE event = ANY($1::bigint[]) ORDER BY event, route`;

const UNROUTED = `SELECT event FROM authserve.unrouted WHERE event = ANY($1::bigint[])`;

/** Lists stored events. Each page is of one snapshot. */
export function eventReads(postgres: Postgres, codec: PayloadCodec): Pick<EventStore, "list"> {
  const list = (filter: EventFilter) =>
    snapshot(postgres, async (queries) => listIn(queries, codec, filter, await readListed(queries, filter)));
  const listWindow = (filter: EventFilter) => snapshot(postgres, (queries) => listIn(queries, codec, filter));
  return {
    list: (filter) => (isSearched(filter) ? searchEvents(postgres, filter, listWindow) : list(filter)),
  };
}

function snapshot<T>(postgres: Postgres, read: (queries: Queries) => Promise<T>): Promise<T> {
  return postgres.transaction((queries) => {
    for (const setting of SETTINGS) void queries.run(setting);
    return read(queries);
  });
}

// Events whose errors are compared with a text at once.
const COMPARED = 1000;

/** Lists events, by default those of a window. */
async function listIn(
  queries: Queries,
  codec: PayloadCodec,
  filter: EventFilter,
  listed: Listed = { oldest: 0, newest: Infinity },
): Promise<EventPage> {
  const { error, search, route, limit, type = "" } = filter;
  const takes = isTypeList(type) ? typeList(type) : () => true;
  const size = error === undefined && search === undefined && !isTypeList(type) ? limit : COMPARED;
  let next = { ...within(filter, listed), limit: size };
  const found: ListedEvent[] = [];
  for (;;) {
    const rows = await readRows(queries, next);
    const isListed = ({ jobs, type }: ListedEvent) =>
      takes(type) &&
      (error === undefined ||
        jobs?.some((job) => (route === undefined || job.route === route) && matchesError(job.lastError, error)));
    const listed = rows.filter(isListed);
    found.push(...(search === undefined ? listed : await thoseWith(queries, codec, listed, search)));
    if (rows.length < size || found.length >= limit) return listPage(found.slice(0, limit), filter);
    next = { ...next, before: String(rows.at(-1)?.id) };
  }
}

/** A filter that reads no events but those that it can list. */
function within(filter: EventFilter, { oldest, newest }: Listed): EventFilter {
  const after = String(Math.max(oldest - 1, Number(filter.after ?? 0)));
  const before = Math.min(newest + 1, Number(filter.before ?? Infinity));
  return before === Infinity ? { ...filter, after } : { ...filter, after, before: String(before) };
}

/** The encrypted contents among those of events: events. */
const SEALED_CONTENTS = `
SELECT event, headers AS text, payload AS bytes FROM authserve.contents
WHERE event = ANY($1::bigint[]) AND headers LIKE '${SEALED}'`;

/** The encrypted answers of targets among those of events: events. */
const SEALED_ANSWERS = `
SELECT event, route, attempt, response FROM authserve.attempts
WHERE event = ANY($1::bigint[]) AND response LIKE '${SEALED}'`;

/** The events among some with a text in what is not encrypted: events, the text, its bytes. */
const WITH_TEXT = `SELECT id FROM authserve.events WHERE id = ANY($1::bigint[]) AND ${PLAINLY_HAS("events.id", "$2", "$3")}`;

/**
 * The events that have a text. Without anything encrypted they have it. What is encrypted with a missing key has none.
 */
async function thoseWith(
  queries: Queries,
  codec: PayloadCodec,
  events: readonly ListedEvent[],
  search: string,
): Promise<ListedEvent[]> {
  if (events.length === 0) return [];
  const ids = integers(events.map(({ id }) => id));
  const [contents, answers] = await Promise.all([
    queries.rows<RowContent & { event: number }>(SEALED_CONTENTS, [ids]),
    queries.rows<{ event: number; route: string; attempt: number; response: string }>(SEALED_ANSWERS, [ids]),
  ]);
  if (contents.length + answers.length === 0) return [...events];
  const found = new Set(
    (await queries.rows<{ id: number }>(WITH_TEXT, [ids, search, Buffer.from(search)])).map(({ id }) => id),
  );
  const named = new Map(events.map((event) => [event.id, event]));
  for (const { event, ...row } of contents) {
    const { source, eventId } = named.get(event) as ListedEvent;
    const content = orNull(() => codec.open(ROW.contents(source, eventId), row));
    if (content?.text.includes(search) || (content && Buffer.from(content.bytes).includes(search))) found.add(event);
  }
  for (const { event, route, attempt, response } of answers) {
    if (orNull(() => codec.openText(ROW.response(event, route, attempt), response))?.includes(search)) found.add(event);
  }
  return events.filter(({ id }) => found.has(id));
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
async function readJobs(
  queries: Queries,
  events: readonly EventRow[],
): Promise<(event: number) => ListedJobRow[] | null> {
  if (events.length === 0) return () => null;
  const ids = integers(events.map(({ id }) => id));
  const [jobs, pending] = await Promise.all([
    queries.rows<Of<ListedJobRow>>(JOBS, [ids]),
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
export async function readListed(queries: Queries, { since, until, route }: EventFilter): Promise<Listed> {
  const [{ oldest, newest, routedTo } = { oldest: 0, newest: 0, routedTo: 0 }] = await queries.rows<
    Listed & { routedTo: number }
  >(LISTED, [since ?? null, until ?? null]);
  return { oldest, newest: route === undefined ? newest : Math.min(newest, routedTo) };
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
  const named = namedBySearch(filter);
  const first = named === null ? [] : (await list(named)).items;
  const windows = searchWindows(filter, await readListed(queries, filter), first);
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
