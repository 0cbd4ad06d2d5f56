import { MAX_COMPARED_JOBS } from "../events/limits.ts";
import {
  chooseJobs,
  type FoundJobs,
  type JobOrigin,
  type OpenJobRow,
  openJobOf,
  rangeOf,
} from "../events/open-job-page.ts";
import type { JobFilter, OpenJobPage, PageRequest } from "../events/store.ts";
import type { Postgres, Queries } from "./connection.ts";
import { columnsOf, integers, texts } from "./values.ts";

const LAST_OPEN = `SELECT max(event) AS last FROM authserve.jobs WHERE status = $1 AND status <> 'processed'`;

/**
 * The next jobs of a status in the order of their events: status, after this event, up to this one, limit. Callers
 * compare them with a filter. Each event is looked up by itself, as in lists.
 */
const OPEN_JOBS = `
SELECT event, route, last_error AS "lastError", source, type, received_at AS "receivedAt"
FROM (
  SELECT event, route, last_error FROM authserve.jobs
  WHERE status = $1 AND status <> 'processed' AND event > $2 AND event <= $3 ORDER BY event LIMIT $4) AS open,
  LATERAL (SELECT * FROM authserve.events WHERE id = event LIMIT 1) AS found
ORDER BY event, route`;

/** Finds the jobs that match a filter, page by page. */
export async function openJobPages(
  queries: Queries,
  filter: JobFilter,
  { cursor, limit }: PageRequest,
): Promise<FoundJobs> {
  const { after, last } = rangeOf(cursor ?? (await firstCursor(queries, filter.status)));
  const values = [filter.status, after, last, MAX_COMPARED_JOBS];
  const rows = await queries.rows<Pick<OpenJobRow, "route" | "lastError"> & JobOrigin & { event: number }>(
    OPEN_JOBS,
    values,
  );
  return chooseJobs(rows, (row) => row, filter, { last, limit });
}

async function firstCursor(queries: Queries, status: string): Promise<string> {
  const [row] = await queries.rows<{ last: number | null }>(LAST_OPEN, [status]);
  return `0-${row?.last ?? 0}`;
}

const JOBS = `
SELECT source, event_id AS "eventId", type, received_at AS "receivedAt", route, status, attempts - probes AS attempts,
  ordering_key AS "orderingKey", due_at AS "dueAt", lease_owner IS NOT NULL AS leased, last_error AS "lastError", failed_at AS "failedAt", reason
FROM unnest($1::bigint[], $2::text[]) WITH ORDINALITY AS named (event, route, nth)
  JOIN authserve.jobs USING (event, route) JOIN authserve.events ON id = event LEFT JOIN authserve.dead_letters USING (event, route)
ORDER BY nth`;

/** Lists the jobs of such a page. */
export function listOpenJobs(postgres: Postgres, filter: JobFilter, page: PageRequest): Promise<OpenJobPage> {
  return postgres.transaction(async (queries) => {
    const { events, next } = await openJobPages(queries, filter, page);
    const names = [...events].flatMap(([event, routes]) => routes.map((route) => ({ event, route })));
    const rows = await queries.rows<OpenJobRow>(JOBS, columnsOf(names, { event: integers, route: texts }));
    return { items: rows.map(openJobOf), next };
  });
}
