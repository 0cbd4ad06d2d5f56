import { MAX_COMPARED_JOBS } from "../events/limits.ts";
import {
  chooseJobs,
  comparesOrigins,
  type FoundJobs,
  type JobOrigin,
  type OpenJobRow,
  openJobOf,
  rangeOf,
} from "../events/open-job-page.ts";
import type { EventStore, JobFilter, OpenJobPage, PageRequest } from "../events/store.ts";
import { type Query, type QueryPort, row, rows, Snapshot } from "./query.ts";

const LAST = "SELECT max(event) AS last FROM authserve.jobs WHERE status = $1 AND status <> 'processed'";

/** The next jobs of a status in the order of their events: status, after this event, up to this one, limit. */
const FOLLOWING = `
SELECT event, route, last_error AS "lastError" FROM authserve.jobs
WHERE status = $1 AND status <> 'processed' AND event > $2 AND event <= $3 ORDER BY event LIMIT $4`;

const ORIGINS = `
SELECT id, source, type, received_at AS "receivedAt" FROM authserve.events WHERE id = ANY($1::bigint[])`;

const JOBS = `
SELECT jobs.event, source, event_id AS "eventId", type, received_at AS "receivedAt", jobs.route, status,
  attempts - probes AS attempts, ordering_key AS "orderingKey", due_at AS "dueAt", lease_owner IS NOT NULL AS leased,
  last_error AS "lastError", failed_at AS "failedAt", reason
FROM authserve.jobs JOIN authserve.events ON id = jobs.event
  LEFT JOIN authserve.dead_letters ON dead_letters.event = jobs.event AND dead_letters.route = jobs.route
WHERE jobs.event = ANY($1::bigint[]) ORDER BY jobs.event, jobs.route`;

/** Finds the jobs that match a filter, page by page. */
export function* findOpenJobs(filter: JobFilter, { cursor, limit }: PageRequest): Query<FoundJobs> {
  const first = cursor ?? `0-${(yield* row<{ last: number | null }>(LAST, filter.status))?.last ?? 0}`;
  const { after, last } = rangeOf(first);
  const found = yield* rows<Pick<OpenJobRow, "route" | "lastError"> & { event: number }>(
    FOLLOWING,
    filter.status,
    after,
    last,
    MAX_COMPARED_JOBS,
  );
  const events = comparesOrigins(filter) ? [...new Set(found.map(({ event }) => event))] : [];
  const origins = events.length === 0 ? [] : yield* rows<JobOrigin & { id: number }>(ORIGINS, events);
  const originOf = new Map(origins.map((origin) => [origin.id, origin]));
  return chooseJobs(found, ({ event }) => originOf.get(event), filter, { last, limit });
}

export type OpenJobPort = Pick<EventStore, "count" | "jobs">;

/** Reads such pages: the number of their events, and their jobs. */
export const openJobs: QueryPort<OpenJobPort> = {
  count: (filter, page) => new Snapshot(countOpenJobs(filter, page)),
  jobs: (filter, page) => new Snapshot(listOpenJobs(filter, page)),
};

function* countOpenJobs(filter: JobFilter, page: PageRequest) {
  const { events, next } = yield* findOpenJobs(filter, page);
  return { count: events.size, next };
}

function* listOpenJobs(filter: JobFilter, page: PageRequest): Query<OpenJobPage> {
  const { events, next } = yield* findOpenJobs(filter, page);
  const found = yield* rows<OpenJobRow & { event: number }>(JOBS, [...events.keys()]);
  const chosen = found.filter(({ event, route }) => events.get(event)?.includes(route));
  return { items: chosen.map(({ event: _, ...job }) => openJobOf(job)), next };
}
