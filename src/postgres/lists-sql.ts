import type { EventFilter } from "../events/store.ts";

/** The columns of an event in a list. */
export const EVENT = `events.id, events.source, events.event_id AS "eventId", events.type, events.received_at AS "receivedAt"`;

/** A statement with its parameters. */
export interface Statement {
  text: string;
  values: unknown[];
}

/** What a list reads in order: its tables, and the column with the numbers of the events. */
interface Index {
  tables: string;
  event: string;
}

const OPEN_JOBS: Index = { tables: "authserve.jobs JOIN authserve.events ON id = jobs.event", event: "jobs.event" };
const UNROUTED: Index = {
  tables: "authserve.unrouted JOIN authserve.events ON id = unrouted.event",
  event: "unrouted.event",
};
const BY_TYPE_OR_SOURCE: Index = { tables: "authserve.events", event: "events.id" };
// Identities without contents are not listed. There may be many of them.
const ALL: Index = {
  tables: "authserve.contents JOIN authserve.events ON id = contents.event",
  event: "contents.event",
};

/**
 * Lists events, newest first. Each statement reads the index of the rarest filter in order and applies the others to its rows. The
 * queued events are in two places.
 */
export function listStatements(filter: EventFilter): Statement[] {
  const { status, type, source, error } = filter;
  if (status === "failed") return [listStatement(filter, OPEN_JOBS)];
  if (status === "queued") {
    // An event before fan-out has no error.
    const places = error === undefined ? [OPEN_JOBS, UNROUTED] : [OPEN_JOBS];
    return places.map((index) => listStatement(filter, index));
  }
  return [listStatement(filter, type === undefined && source === undefined ? ALL : BY_TYPE_OR_SOURCE)];
}

function listStatement(filter: EventFilter, index: Index): Statement {
  const values: unknown[] = [];
  const conditions = conditionsOf(filter, index, (given) => `$${values.push(given)}`);
  const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")} `;
  const { tables, event } = index;
  // An event may have several open jobs.
  const text = `SELECT DISTINCT ON (${event}) ${EVENT} FROM ${tables} ${where}ORDER BY ${event} DESC LIMIT $${values.push(filter.limit)}`;
  return { text, values };
}

// Counts, because the planner turns EXISTS into a join, which may read all rows before the page.
const IN = (table: string) => `(SELECT count(*) FROM authserve.${table} WHERE ${table}.event = events.id)`;
const HAS_JOB = (condition: string) =>
  `(SELECT count(*) FROM authserve.jobs AS job WHERE job.event = events.id AND ${condition}) > 0`;

function conditionsOf(filter: EventFilter, index: Index, value: (given: unknown) => string): string[] {
  const { type, source, since, until, error, search, before, after } = filter;
  const { event } = index;
  const conditions = statusConditions(filter, index, value);
  if (type !== undefined) conditions.push(`events.type = ${value(type)}`);
  if (source !== undefined) conditions.push(`events.source = ${value(source)}`);
  if (until !== undefined) conditions.push(`events.received_at < ${value(until)}`);
  if (since !== undefined) conditions.push(`events.received_at >= ${value(since)}`);
  // A condition on one table does not limit what a join reads of the other.
  for (const id of new Set([event, "events.id"])) {
    if (since !== undefined) conditions.push(`${id} >= ${FIRST_SINCE(value(since))}`);
    if (before !== undefined) conditions.push(`${id} < ${value(before)}::bigint`);
    if (after !== undefined) conditions.push(`${id} > ${value(after)}::bigint`);
  }
  if (error !== undefined) conditions.push(HAS_JOB(`position(lower(${value(error)}) IN lower(job.last_error)) > 0`));
  if (search !== undefined) conditions.push(PAYLOAD_HAS(value(Buffer.from(search))));
  return conditions;
}

function statusConditions({ status }: EventFilter, index: Index, value: (given: unknown) => string): string[] {
  const conditions: string[] = [];
  if (index === BY_TYPE_OR_SOURCE) conditions.push(`${IN("contents")} > 0`);
  if (index === OPEN_JOBS) conditions.push(`jobs.status = ${value(status)}`, "jobs.status <> 'processed'");
  if (status === "failed") conditions.push(`NOT ${HAS_JOB("job.status = 'queued'")}`);
  if (status === "processed")
    conditions.push(`${IN("unrouted")} = 0`, `NOT ${HAS_JOB("job.status IN ('queued', 'failed')")}`);
  return conditions;
}

const PAYLOAD_HAS = (bytes: string) =>
  `position(${bytes}::bytea IN (SELECT payload FROM authserve.contents AS searched WHERE searched.event = events.id)) > 0`;

/** The first event that may have come at or after a time. Fan-out adds minutes, so earlier events have none. */
const FIRST_SINCE = (since: string) =>
  `least((SELECT min(first_event) FROM authserve.events_by_minute WHERE minute >= ${since}::bigint / 60000),
    (SELECT min(event) FROM authserve.unrouted))`;

/** The oldest event that can be listed since a time, or at all when it is null, and the newest one: since. */
export const LISTED = `
SELECT greatest((SELECT coalesce(min(event), 0) FROM authserve.contents), coalesce(${FIRST_SINCE("$1")}, 0)) AS oldest,
  (SELECT coalesce(max(id), 0) FROM authserve.events) AS newest`;
