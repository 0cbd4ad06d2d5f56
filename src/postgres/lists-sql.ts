import type { EventFilter } from "../events/store.ts";
import { oneTypeOf } from "../events/type-list.ts";
import { SEALED } from "../storage/payload-codec.ts";

/** The columns of an event in a list. */
const EVENT = `events.id, events.source, events.event_id AS "eventId", events.type, events.received_at AS "receivedAt"`;

interface Statement {
  text: string;
  values: unknown[];
}

/** What a list reads in order: its tables, and the column with the numbers of the events. */
interface Index {
  tables: string;
  event: string;
}

/** Each event is looked up by itself: a join in order would read all events that the other table does not have. */
const LOOKED_UP = (table: string): Index => {
  const event = `${table}.event`;
  const events = `LATERAL (SELECT * FROM authserve.events WHERE id = ${event} LIMIT 1) AS events`;
  return { tables: `authserve.${table}, ${events}`, event };
};

const OPEN_JOBS = LOOKED_UP("jobs");
const JOBS = LOOKED_UP("jobs");
const PENDING = LOOKED_UP("unrouted");
const UNTAKEN = LOOKED_UP("untaken");
// Identities without contents are not listed. There may be many of them.
const ALL = LOOKED_UP("contents");
const BY_COLUMN: Index = { tables: "authserve.events", event: "events.id" };

/**
 * Lists events, newest first. Each statement reads the index of the rarest filter in order and applies the others to
 * its rows. The queued events are in two places. Errors, lists of types and what is encrypted are left to the caller.
 * `after` and `before` must be within what {@link LISTED} finds: a time alone does not limit what is read.
 */
export function listStatements(filter: EventFilter): Statement[] {
  const { status, source, eventId, route, error } = filter;
  const type = oneTypeOf(filter);
  if (status === "failed" || status === "discarded") return [listStatement(filter, OPEN_JOBS)];
  if (status === "queued") {
    // An event before fan-out has no error, and is of no route.
    const places = error === undefined && route === undefined ? [OPEN_JOBS, PENDING] : [OPEN_JOBS];
    return places.map((index) => listStatement(filter, index));
  }
  const isByColumn = [type, source, eventId].some((given) => given !== undefined);
  const inOrder = route !== undefined ? JOBS : status === "unrouted" ? UNTAKEN : ALL;
  return [listStatement(filter, isByColumn ? BY_COLUMN : inOrder)];
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
const IN = (table: string, event: string) =>
  `(SELECT count(*) FROM authserve.${table} WHERE ${table}.event = ${event})`;
const HAS_JOB = (event: string, condition: string) =>
  `(SELECT count(*) FROM authserve.jobs AS job WHERE job.event = ${event} AND ${condition}) > 0`;

function conditionsOf(filter: EventFilter, index: Index, value: (given: unknown) => string): string[] {
  const { source, eventId, route, since, until, error, search, before, after } = filter;
  const type = oneTypeOf(filter);
  const { event } = index;
  const conditions = statusConditions(filter, index, value);
  if (type !== undefined) conditions.push(`events.type = ${value(type)}`);
  if (source !== undefined) conditions.push(`events.source = ${value(source)}`);
  if (eventId !== undefined) conditions.push(`events.event_id = ${value(eventId)}`);
  if (until !== undefined) conditions.push(`events.received_at < ${value(until)}`);
  if (since !== undefined) conditions.push(`events.received_at >= ${value(since)}`);
  if (before !== undefined) conditions.push(`${event} < ${value(before)}::bigint`);
  if (after !== undefined) conditions.push(`${event} > ${value(after)}::bigint`);
  if (error !== undefined) conditions.push(HAS_JOB(event, "job.last_error IS NOT NULL"));
  if (route !== undefined) conditions.push(...routeConditions(filter, index, value));
  if (search !== undefined) conditions.push(MAY_HAVE(event, value(search), value(Buffer.from(search))));
  return conditions;
}

/** Without any, all events would be read in vain. */
const HAS_UNROUTED = `(SELECT sum(unrouted) FROM authserve.tally WHERE route = '') > 0`;

/** The job of a route in its status. */
function routeConditions({ route, status }: EventFilter, index: Index, value: (given: unknown) => string): string[] {
  const named = value(route);
  const ofStatus = status === undefined ? "" : ` AND job.status = ${value(status)}`;
  const has = HAS_JOB(index.event, `job.route = ${named}${ofStatus}`);
  return index === OPEN_JOBS || index === JOBS ? [`jobs.route = ${named}`, has] : [has];
}

function statusConditions({ status, route }: EventFilter, index: Index, value: (given: unknown) => string): string[] {
  const conditions: string[] = [];
  const { event } = index;
  if (index === BY_COLUMN) conditions.push(`${IN("contents", event)} > 0`);
  if (index === OPEN_JOBS) conditions.push(`jobs.status = ${value(status)}`, "jobs.status <> 'processed'");
  if (route !== undefined) return conditions;
  if (status === "failed") conditions.push(`NOT ${HAS_JOB(event, "job.status = 'queued'")}`);
  if (status === "discarded") conditions.push(`NOT ${HAS_JOB(event, "job.status IN ('queued', 'failed')")}`);
  if (status === "processed")
    conditions.push(HAS_JOB(event, "true"), `NOT ${HAS_JOB(event, "job.status <> 'processed'")}`);
  if (status === "unrouted")
    conditions.push(HAS_UNROUTED, `${IN("unrouted", event)} = 0`, `NOT ${HAS_JOB(event, "true")}`);
  return conditions;
}

/**
 * Whether an event has a text, or may have it because a part of it is encrypted. Those with exactly this id are listed
 * by their index.
 */
const MAY_HAVE = (
  event: string,
  text: string,
  bytes: string,
) => `events.event_id <> ${text} AND (${PLAINLY_HAS(event, text, bytes)}
  OR (SELECT headers LIKE '${SEALED}' FROM authserve.contents AS searched WHERE searched.event = ${event})
  OR (SELECT count(*) FROM authserve.attempts AS made WHERE made.event = ${event} AND made.response LIKE '${SEALED}') > 0)`;

/** Whether what is not encrypted of an event has a text. */
export const PLAINLY_HAS = (event: string, text: string, bytes: string): string => `(
  strpos(events.event_id, ${text}) > 0 OR strpos(events.type, ${text}) > 0
  OR (SELECT headers NOT LIKE '${SEALED}' AND (strpos(headers, ${text}) > 0 OR position(${bytes}::bytea IN payload) > 0)
    FROM authserve.contents AS searched WHERE searched.event = ${event})
  OR (SELECT count(*) FROM authserve.attempts AS made
    WHERE made.event = ${event} AND made.response NOT LIKE '${SEALED}' AND strpos(made.response, ${text}) > 0) > 0)`;

/**
 * The newest event that can be listed until the time $2. Servers of the version before do not note the last event of a
 * minute. It is not after those of the next minute.
 */
const NEWEST_UNTIL = `greatest(
    least(newest, (SELECT max(greatest(first_event, last_event)) FROM authserve.events_by_minute
      WHERE minute <= (SELECT min(minute) FROM authserve.events_by_minute WHERE minute > $2::bigint / 60000))),
    (SELECT event FROM ${PENDING.tables} WHERE received_at < $2::bigint ORDER BY event DESC LIMIT 1))`;

/**
 * The oldest event that can be listed since a time, and the newest one until a time: since, until. Null is at all.
 * Events of a route are listed up to `routedTo`. Fan-out adds minutes, so events before it have none. A list is told
 * the numbers of the events, because the planner must know how much of an index it reads.
 */
export const LISTED = `
SELECT greatest((SELECT coalesce(min(event), 0) FROM authserve.contents), CASE WHEN $1::bigint IS NULL THEN 0 ELSE coalesce(
    least((SELECT min(first_event) FROM authserve.events_by_minute WHERE minute >= $1 / 60000),
      (SELECT min(event) FROM authserve.unrouted)), newest + 1) END) AS oldest,
  CASE WHEN $2::bigint IS NULL THEN newest ELSE ${NEWEST_UNTIL} END AS newest,
  least((SELECT min(event) - 1 FROM authserve.unrouted), newest) AS "routedTo"
FROM (SELECT coalesce(max(id), 0) AS newest FROM authserve.events) AS known`;
