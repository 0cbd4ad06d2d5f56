import type { JobFilter, OpenJob, OpenJobPage, PageRequest } from "../events/store.ts";
import type { Postgres, Queries } from "./connection.ts";
import { integers, texts } from "./values.ts";

// Jobs that are compared with a filter in one page.
const MAX_COMPARED = 2000;

/** Some events in order, each with those of its routes whose jobs match a filter. */
interface FoundPage {
  events: Map<number, string[]>;
  next: string | null;
}

interface OpenJobRow {
  event: number;
  route: string;
  matches: boolean;
}

/** The newest event with a job of a status: status. */
const LAST_OPEN = `SELECT max(event) AS last FROM authserve.jobs WHERE status = $1 AND status <> 'processed'`;

/**
 * The next jobs of a status in the order of their events, and whether they match a filter: status, after this event, up to this one,
 * limit, then the members of the filter, null for any: route, type, source, since, until, part of the last error. Each event is
 * looked up by itself, as in lists.
 */
const OPEN_JOBS = `
SELECT event, route, coalesce((route = $5 OR $5 IS NULL) AND (type = $6 OR $6 IS NULL) AND (source = $7 OR $7 IS NULL)
  AND (received_at >= $8 OR $8 IS NULL) AND (received_at < $9 OR $9 IS NULL)
  AND (position(lower($10 COLLATE "C") IN lower(last_error COLLATE "C")) > 0 OR $10 IS NULL), false) AS matches
FROM (
  SELECT event, route, last_error FROM authserve.jobs
  WHERE status = $1 AND status <> 'processed' AND event > $2 AND event <= $3 ORDER BY event LIMIT $4) AS open,
  LATERAL (SELECT * FROM authserve.events WHERE id = event LIMIT 1) AS found
ORDER BY event, route`;

/**
 * Finds the jobs that match a filter, page by page. A cursor is the last event of the page before and the last one of the
 * first page's time: "17-2000". So jobs that fail later are not found again.
 */
export async function openJobPages(
  queries: Queries,
  filter: JobFilter,
  { cursor, limit }: PageRequest,
): Promise<FoundPage> {
  const { status, route = null, type = null, source = null, since = null, until = null, error = null } = filter;
  const [after = 0, last = 0] = (cursor ?? (await firstCursor(queries, status))).split("-").map(Number);
  const values = [status, after, last, MAX_COMPARED, route, type, source, since, until, error];
  const rows = await queries.rows<OpenJobRow>(OPEN_JOBS, values);
  // The last event may have more jobs than were read. The next page begins with it.
  let end = rows.length === MAX_COMPARED ? (rows.at(-1)?.event ?? 0) - 1 : last;
  const events = new Map<number, string[]>();
  for (const row of rows) {
    if (row.event > end) break;
    if (!row.matches) continue;
    const routes = events.get(row.event);
    if (routes) routes.push(row.route);
    else if (events.size < limit) events.set(row.event, [row.route]);
    else end = row.event - 1;
  }
  return { events, next: end < last ? `${end}-${last}` : null };
}

async function firstCursor(queries: Queries, status: string): Promise<string> {
  const [row] = await queries.rows<{ last: number | null }>(LAST_OPEN, [status]);
  return `0-${row?.last ?? 0}`;
}

/** Jobs with their events, in this order: events, routes. */
const JOBS = `
SELECT source, event_id AS "eventId", type, received_at AS "receivedAt", route, status, attempts, ordering_key AS "orderingKey",
  due_at AS "dueAt", lease_owner IS NOT NULL AS leased, last_error AS "lastError", failed_at AS "failedAt", reason
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS named (event, route, nth)
  JOIN authserve.jobs USING (event, route) JOIN authserve.events ON id = event LEFT JOIN authserve.dead_letters USING (event, route)
ORDER BY nth`;

type JobRow = Omit<OpenJob, "deadLetter"> & { failedAt: number | null; reason: string | null };

/** Lists the jobs of such a page. */
export function listOpenJobs(postgres: Postgres, filter: JobFilter, page: PageRequest): Promise<OpenJobPage> {
  return postgres.transaction(async (queries) => {
    const { events, next } = await openJobPages(queries, filter, page);
    const names = [...events].flatMap(([event, routes]) => routes.map((route) => ({ event, route })));
    const columns = [integers(names.map(({ event }) => event)), texts(names.map(({ route }) => route))];
    const rows = await queries.rows<JobRow>(JOBS, columns);
    const items = rows.map(({ failedAt, reason, ...job }) => ({
      ...job,
      deadLetter: failedAt === null ? null : { failedAt, reason: reason ?? "" },
    }));
    return { items, next };
  });
}
