import type { EventFilter } from "../events/store.ts";
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

/** Lists events with jobs, newest first. Reads the index of the rarest filter and applies the others to its rows. */
export function listRoutedStatement(filter: EventFilter): string {
  const { status, type, source, route, error } = filter;
  const isOpen = status === "queued" || status === "failed" || status === "discarded";
  // Identities without contents are not listed. There may be many of them.
  let [from, event] = ["contents CROSS JOIN events ON events.id = contents.event", "contents.event"];
  let chosen: string | null = null;
  if (isOpen) {
    [from, event] = ["jobs CROSS JOIN events ON events.id = jobs.event", "jobs.event"];
    chosen = "jobs.status = @status AND jobs.status <> 'processed'";
    if (route !== undefined) chosen += " AND jobs.route = @route";
  } else if (status === "unrouted" && type === undefined && source === undefined) {
    [from, event] = ["untaken CROSS JOIN events ON events.id = untaken.event", "untaken.event"];
    chosen = "true";
  } else if (type !== undefined || source !== undefined) {
    const index = type === undefined ? "events_by_source" : "events_by_type";
    [from, event] = [`${index} AS listed CROSS JOIN events ON events.id = listed.event`, "listed.event"];
    chosen = type === undefined ? "listed.source = @source" : "listed.type = @type";
  } else if (route !== undefined) {
    [from, event] = ["jobs CROSS JOIN events ON events.id = jobs.event", "jobs.event"];
    chosen = "jobs.route = @route";
  }
  const bounds = { lower: [FIRST_SINCE], upper: chosen === null ? ["(SELECT routed_to FROM tally)"] : [] };
  const conditions = [...(chosen === null ? [] : [chosen]), ...conditionsOf(filter, event, bounds)];
  conditions.push(...(route === undefined ? statusConditions(filter) : [ofRoute(filter)]));
  if (error !== undefined && route === undefined) conditions.push(HAS("matches_error(job.last_error, @error)"));
  const group = isOpen ? "GROUP BY jobs.event " : "";
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
const PAYLOAD_HAS = `
  CASE WHEN searched.headers LIKE '${SEALED}'
    THEN opened_has(events.source, events.event_id, searched.headers, searched.payload, @search)
    ELSE instr(searched.payload, CAST(@search AS BLOB)) > 0 END`;

/** The first event that fan-out has noted since a time. */
const FIRST_SINCE = "(SELECT min(first_event) FROM events_by_minute WHERE minute >= CAST(@since / 60000 AS INTEGER))";

/**
 * `event` is the column that orders the list. `bounds` are further ones of it, the lower ones for a list since a time.
 * SQLite seeks one upper and one lower bound only: with two it could read all events above the cursor.
 */
function conditionsOf(filter: EventFilter, event: string, bounds: { lower: string[]; upper: string[] }): string[] {
  const { type, source, since, until, search, before, after } = filter;
  const conditions: string[] = [];
  if (type !== undefined) conditions.push("events.type = @type");
  if (source !== undefined) conditions.push("events.source = @source");
  if (since !== undefined) conditions.push("events.received_at >= @since");
  if (until !== undefined) conditions.push("events.received_at < @until");
  if (search !== undefined) {
    conditions.push(`(SELECT ${PAYLOAD_HAS} FROM contents AS searched WHERE searched.event = ${event})`);
  }
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
