import type { EventFilter } from "../events/store.ts";
import { isTypeList, oneTypeOf } from "../events/type-list.ts";
import { SEALED } from "../storage/payload-codec.ts";
import { EVENT } from "./events-sql.ts";

/** Lists events before fan-out, newest first. They count as queued. */
export function listPendingStatement(filter: EventFilter): string {
  const conditions = [
    "events.id > (SELECT routed_to FROM tally)",
    ...conditionsOf(filter, "events.id", { lower: [], upper: [] }),
  ];
  return `SELECT ${EVENT} FROM events WHERE ${conditions.join(" AND ")} ORDER BY events.id DESC LIMIT @limit`;
}

const HAS = (condition: string) => `EXISTS (SELECT 1 FROM jobs AS job WHERE job.event = events.id AND ${condition})`;

/** What a list reads in order: its tables, the column with the numbers of the events, and the rows of the tables. */
interface Place {
  from: string;
  event: string;
  chosen: string | null;
}

const isOpen = ({ status }: EventFilter) => status === "queued" || status === "failed" || status === "discarded";

/** The index of the rarest filter. */
function placeOf(filter: EventFilter): Place {
  const { status, source, route, eventId } = filter;
  const type = oneTypeOf(filter);
  const ofTable = (table: string, chosen: string): Place => ({
    from: `${table} CROSS JOIN events ON events.id = ${table}.event`,
    event: `${table}.event`,
    chosen,
  });
  if (eventId !== undefined) {
    const from = "events INDEXED BY events_identity CROSS JOIN contents ON contents.event = events.id";
    return { from, event: "events.id", chosen: null };
  }
  if (isOpen(filter)) {
    const ofRoute = route === undefined ? "" : " AND jobs.route = @route";
    return ofTable("jobs", `jobs.status = @status AND jobs.status <> 'processed'${ofRoute}`);
  }
  if (status === "unrouted" && type === undefined && source === undefined) return ofTable("untaken", "true");
  if (type !== undefined) return ofTable("events_by_type", "events_by_type.type = @type");
  if (source !== undefined) return ofTable("events_by_source", "events_by_source.source = @source");
  if (route !== undefined) return ofTable("jobs", "jobs.route = @route");
  // Identities without contents are not listed. There may be many of them.
  return { ...ofTable("contents", ""), chosen: null };
}

/** Lists events with jobs, newest first. Reads the index of the rarest filter and applies the others to its rows. */
export function listRoutedStatement(filter: EventFilter): string {
  const { route, error, eventId } = filter;
  const { from, event, chosen } = placeOf(filter);
  const upper = [
    ...(chosen === null ? ["(SELECT routed_to FROM tally)"] : []),
    ...(filter.until === undefined ? [] : [LAST_UNTIL]),
  ];
  const bounds = { lower: [FIRST_SINCE], upper };
  const conditions = [...(chosen === null ? [] : [chosen]), ...conditionsOf(filter, event, bounds)];
  conditions.push(...(route === undefined ? statusConditions(filter) : [ofRoute(filter)]));
  if (eventId !== undefined && isOpen(filter)) conditions.push(HAS("job.status = @status"));
  if (error !== undefined && route === undefined) conditions.push(HAS("matches_error(job.last_error, @error)"));
  const group = eventId === undefined && isOpen(filter) ? "GROUP BY jobs.event " : "";
  return `SELECT ${EVENT} FROM ${from} WHERE ${conditions.join(" AND ")} ${group}ORDER BY ${event} DESC LIMIT @limit`;
}

function statusConditions({ status }: EventFilter): string[] {
  switch (status) {
    case "failed":
      return [`NOT ${HAS("job.status = 'queued'")}`];
    case "discarded":
      return [`NOT ${HAS("(job.status = 'queued' OR job.status = 'failed')")}`];
    case "processed":
      return [HAS("true"), `NOT ${HAS("job.status <> 'processed'")}`];
    case "unrouted":
      return ["(SELECT unrouted FROM tally) > 0", `NOT ${HAS("true")}`];
    default:
      return [];
  }
}

/** The job of a route in its status, with its error. */
function ofRoute({ status, error }: EventFilter): string {
  const ofStatus = status === undefined ? "" : " AND job.status = @status";
  const ofError = error === undefined ? "" : " AND matches_error(job.last_error, @error)";
  return HAS(`job.route = @route${ofStatus}${ofError}`);
}

/** Both are BLOBs: `instr` of a BLOB and a text is slow, and stops at a zero byte. */
const CONTENT_HAS = `
  CASE WHEN searched.headers LIKE '${SEALED}'
    THEN opened_has(events.source, events.event_id, searched.headers, searched.payload, @search)
    ELSE instr(searched.payload, CAST(@search AS BLOB)) > 0 OR instr(searched.headers, @search) > 0 END`;

const ANSWER_HAS = `
  CASE WHEN made.response LIKE '${SEALED}'
    THEN opened_answer_has(made.event, made.route, made.attempt, made.response, @search)
    ELSE instr(made.response, @search) > 0 END`;

/** Events with exactly the searched id are listed by their index. */
const SEARCHED = (event: string) => `events.event_id <> @search AND (
  instr(events.event_id, @search) > 0 OR instr(events.type, @search) > 0
  OR (SELECT ${CONTENT_HAS} FROM contents AS searched WHERE searched.event = ${event})
  OR EXISTS (SELECT 1 FROM attempts AS made WHERE made.event = ${event} AND made.response IS NOT NULL AND ${ANSWER_HAS}))`;

/** The first event that fan-out has noted since a time. */
const FIRST_SINCE = "(SELECT min(first_event) FROM events_by_minute WHERE minute >= CAST(@since / 60000 AS INTEGER))";

/** The last event that fan-out has noted until a time; 0 if there is none. */
const LAST_UNTIL = `(
  SELECT coalesce(max(last_event), 0) FROM events_by_minute WHERE minute <= CAST(@until / 60000 AS INTEGER))`;

/**
 * `event` is the column that orders the list. `bounds` are further ones of it, the lower ones for a list since a time.
 * SQLite seeks one upper and one lower bound only: with two it could read all events above the cursor.
 */
function conditionsOf(filter: EventFilter, event: string, bounds: { lower: string[]; upper: string[] }): string[] {
  const { type, source, eventId, since, until, search, before, after } = filter;
  const conditions: string[] = [];
  if (type !== undefined) conditions.push(isTypeList(type) ? "takes_type(events.type, @type)" : "events.type = @type");
  if (eventId !== undefined) conditions.push("events.event_id = @eventId");
  if (source !== undefined) conditions.push("events.source = @source");
  if (since !== undefined) conditions.push("events.received_at >= @since");
  if (until !== undefined) conditions.push("events.received_at < @until");
  if (search !== undefined) conditions.push(SEARCHED(event));
  const upper = [...(before === undefined ? [] : ["CAST(@before AS INTEGER) - 1"]), ...bounds.upper];
  const lower = [
    ...(after === undefined ? [] : ["CAST(@after AS INTEGER) + 1"]),
    ...(since === undefined ? [] : bounds.lower),
  ];
  if (upper.length > 0) conditions.push(`${event} <= ${upper.length === 1 ? upper[0] : `min(${upper.join(", ")})`}`);
  if (lower.length > 0) conditions.push(`${event} >= ${lower.length === 1 ? lower[0] : `max(${lower.join(", ")})`}`);
  return conditions;
}

/** The oldest event that can be listed since a time, or at all when it is null. */
export const OLDEST_LISTED = `
SELECT max((SELECT coalesce(min(event), 0) FROM contents), coalesce(${FIRST_SINCE}, 0))`;

/** The newest event that can be listed until a time. Fan-out adds minutes, so events before it have none. */
export const NEWEST_UNTIL = `
SELECT max(${LAST_UNTIL}, coalesce((
  SELECT id FROM events WHERE id > (SELECT routed_to FROM tally) AND received_at < @until ORDER BY id DESC LIMIT 1), 0))`;
