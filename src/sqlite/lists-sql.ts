import type { EventFilter } from "../events/store.ts";
import { EVENT } from "./events-sql.ts";

/** Lists events before fan-out, newest first. They count as queued. */
export function listUnroutedStatement(filter: EventFilter): string {
  const conditions = ["events.id > (SELECT routed_to FROM tally)", ...conditionsOf(filter, "events.id", false)];
  return `SELECT ${EVENT} FROM events WHERE ${conditions.join(" AND ")} ORDER BY events.id DESC LIMIT @limit`;
}

const HAS = (condition: string) => `EXISTS (SELECT 1 FROM jobs AS job WHERE job.event = events.id AND ${condition})`;

/** Lists events with jobs, newest first. Reads the index of the rarest filter and applies the others to its rows. */
export function listRoutedStatement(filter: EventFilter): string {
  const { status, type, source, error } = filter;
  const isOpen = status === "queued" || status === "failed";
  // Identities without contents are not listed. There may be many of them.
  let [from, event] = ["contents CROSS JOIN events ON events.id = contents.event", "contents.event"];
  let chosen = upToRouted(filter);
  if (isOpen) {
    [from, event] = ["jobs CROSS JOIN events ON events.id = jobs.event", "jobs.event"];
    chosen = "jobs.status = @status AND jobs.status <> 'processed'";
  } else if (type !== undefined || source !== undefined) {
    const index = type === undefined ? "events_by_source" : "events_by_type";
    [from, event] = [`${index} AS listed CROSS JOIN events ON events.id = listed.event`, "listed.event"];
    chosen = type === undefined ? "listed.source = @source" : "listed.type = @type";
  }
  const isAll = event === "contents.event";
  const conditions = [chosen, ...conditionsOf(isAll ? withoutBefore(filter) : filter, event, true)];
  if (status === "failed") conditions.push(`NOT ${HAS("job.status = 'queued'")}`);
  if (status === "processed") conditions.push(`NOT ${HAS("(job.status = 'queued' OR job.status = 'failed')")}`);
  if (error !== undefined) conditions.push(HAS("instr(lower(job.last_error), lower(@error)) > 0"));
  const group = isOpen ? "GROUP BY jobs.event " : "";
  return `SELECT ${EVENT} FROM ${from} WHERE ${conditions.join(" AND ")} ${group}ORDER BY ${event} DESC LIMIT @limit`;
}

/** The first event that fan-out has noted since a time. */
const FIRST_SINCE = "(SELECT min(first_event) FROM events_by_minute WHERE minute >= CAST(@since / 60000 AS INTEGER))";

// SQLite seeks one upper and one lower bound only. With two it could read all events above the cursor.

/** All events with jobs, before the cursor. */
const upToRouted = ({ before }: EventFilter) =>
  before === undefined
    ? "contents.event <= (SELECT routed_to FROM tally)"
    : "contents.event <= min(CAST(@before AS INTEGER) - 1, (SELECT routed_to FROM tally))";

const withoutBefore = ({ before: _, ...filter }: EventFilter): EventFilter => filter;

/** `event` is the column that orders the list. Events before fan-out are not noted by their minute. */
function conditionsOf(filter: EventFilter, event: string, isRouted: boolean): string[] {
  const { type, source, since, until, search, before, after } = filter;
  const conditions: string[] = [];
  if (type !== undefined) conditions.push("events.type = @type");
  if (source !== undefined) conditions.push("events.source = @source");
  if (since !== undefined) conditions.push("events.received_at >= @since");
  if (until !== undefined) conditions.push("events.received_at < @until");
  if (search !== undefined) {
    // Both are BLOBs: `instr` of a BLOB and a text is slow, and stops at a zero byte.
    conditions.push(
      `instr((SELECT payload FROM contents AS searched WHERE searched.event = ${event}), CAST(@search AS BLOB)) > 0`,
    );
  }
  if (before !== undefined) conditions.push(`${event} < CAST(@before AS INTEGER)`);
  const lower = [
    after === undefined ? [] : "CAST(@after AS INTEGER) + 1",
    since === undefined || !isRouted ? [] : FIRST_SINCE,
  ].flat();
  if (lower.length > 0) conditions.push(`${event} >= ${lower.length === 1 ? lower[0] : `max(${lower.join(", ")})`}`);
  return conditions;
}

/** The oldest event that can be listed since a time, or at all when it is null. */
export const OLDEST_LISTED = `
SELECT max((SELECT coalesce(min(event), 0) FROM contents), coalesce(
  (SELECT min(first_event) FROM events_by_minute WHERE minute >= CAST(@since / 60000 AS INTEGER)), 0))`;

/** The newest event. */
export const NEWEST = `SELECT coalesce(max(id), 0) FROM events`;
