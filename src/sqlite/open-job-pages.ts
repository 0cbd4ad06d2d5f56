import { MAX_COMPARED_JOBS } from "../events/limits.ts";
import {
  chooseJobs,
  type FoundJobs,
  type JobOrigin,
  type OpenJobRow,
  openJobOf,
  rangeOf,
} from "../events/open-job-page.ts";
import type { EventStore, JobFilter, PageRequest } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";

/** Finds the jobs that match a filter, page by page. */
export function openJobPages(database: Database): (filter: JobFilter, page: PageRequest) => FoundJobs {
  const newest = database
    .prepare<[string], number | null>("SELECT max(event) FROM jobs WHERE status = ? AND status <> 'processed'")
    .pluck();
  const following = database.prepare<unknown[], Pick<OpenJobRow, "route" | "lastError"> & { event: number }>(`
    SELECT event, route, last_error AS lastError FROM jobs
    WHERE status = ? AND status <> 'processed' AND event > ? AND event <= ? ORDER BY event LIMIT +?`);
  const origin = database.prepare<[number], JobOrigin>(
    "SELECT source, type, received_at AS receivedAt FROM events WHERE id = ?",
  );

  return (filter, { cursor, limit }) => {
    const { after, last } = rangeOf(cursor ?? `0-${newest.get(filter.status) ?? 0}`);
    const rows = following.all(filter.status, after, last, MAX_COMPARED_JOBS);
    return chooseJobs(rows, ({ event }) => origin.get(event), filter, { last, limit });
  };
}

/** Reads such pages: the number of their events, and their jobs. */
export function openJobReads(database: Database): SyncPort<Pick<EventStore, "count" | "jobs">> {
  const pageOf = openJobPages(database);
  const read = database.prepare<unknown[], OpenJobRow>(`
    SELECT source, event_id AS eventId, type, received_at AS receivedAt, route, status,
      attempts - probes AS attempts, ordering_key AS orderingKey, due_at AS dueAt,
      lease_owner IS NOT NULL AS leased, last_error AS lastError, failed_at AS failedAt, reason
    FROM jobs JOIN events ON id = jobs.event LEFT JOIN dead_letters USING (event, route) WHERE jobs.event = ?
      AND jobs.route = ?`);
  return {
    count(filter, page) {
      const { events, next } = pageOf(filter, page);
      return { count: events.size, next };
    },
    jobs: database.transaction((filter, page) => {
      const { events, next } = pageOf(filter, page);
      const rows = [...events].flatMap(([event, routes]) =>
        routes.map((route) => read.get(event, route) as OpenJobRow),
      );
      return { items: rows.map(openJobOf), next };
    }),
  };
}
