import type { EventStore, JobFilter, OpenJob, PageRequest } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";

// Jobs that are compared with a filter in one page. Deliveries wait while a page is read.
const MAX_COMPARED = 2000;

/** Some events in order, each with those of its routes whose jobs match a filter. */
interface FoundPage {
  events: Map<number, string[]>;
  next: string | null;
}

interface OpenJobRow {
  event: number;
  route: string;
  lastError: string | null;
}

/**
 * Finds the jobs that match a filter, page by page. A cursor is the last event of the page before and the last one of the
 * first page's time: "17-2000". So jobs that fail later are not found again.
 */
export function openJobPages(database: Database): (filter: JobFilter, page: PageRequest) => FoundPage {
  const newest = database.prepare(sql.LAST_OPEN).pluck();
  const following = database.prepare<unknown[], OpenJobRow>(sql.OPEN_JOBS);
  const filtered = database.prepare<unknown[], { source: string; type: string; receivedAt: number }>(sql.FILTERED);

  function matches({ event, route, lastError }: OpenJobRow, filter: JobFilter): boolean {
    if (filter.route !== undefined && filter.route !== route) return false;
    const { error, source, type, since, until } = filter;
    if (error !== undefined && !lastError?.toLowerCase().includes(error.toLowerCase())) return false;
    if ([source, type, since, until].every((member) => member === undefined)) return true;
    const found = filtered.get(event);
    if (!found) return false;
    if ((source ?? found.source) !== found.source || (type ?? found.type) !== found.type) return false;
    return found.receivedAt >= (since ?? found.receivedAt) && (until === undefined || found.receivedAt < until);
  }

  return (filter, { cursor, limit }) => {
    const [after = 0, last = 0] = (cursor ?? `0-${newest.get(filter.status) ?? 0}`).split("-").map(Number);
    const rows = following.all(filter.status, after, last, MAX_COMPARED);
    const isCut = rows.length === MAX_COMPARED;
    // The last event may have more jobs than were read. The next page begins with it.
    let end = isCut ? (rows.at(-1)?.event ?? 0) - 1 : last;
    const events = new Map<number, string[]>();
    for (const row of rows) {
      if (row.event > end) break;
      if (!matches(row, filter)) continue;
      const routes = events.get(row.event);
      if (routes) routes.push(row.route);
      else if (events.size < limit) events.set(row.event, [row.route]);
      else end = row.event - 1;
    }
    return { events, next: end < last ? `${end}-${last}` : null };
  };
}

type JobRow = Omit<OpenJob, "leased" | "deadLetter"> & {
  leased: number;
  failedAt: number | null;
  reason: string | null;
};

/** Reads such pages: the number of their events, and their jobs. */
export function openJobReads(database: Database): SyncPort<Pick<EventStore, "count" | "jobs">> {
  const pageOf = openJobPages(database);
  const read = database.prepare<unknown[], JobRow>(sql.OPEN_JOB);
  return {
    count(filter, page) {
      const { events, next } = pageOf(filter, page);
      return { count: events.size, next };
    },
    jobs: database.transaction((filter, page) => {
      const { events, next } = pageOf(filter, page);
      const rows = [...events].flatMap(([event, routes]) => routes.map((route) => read.get(event, route) as JobRow));
      return { items: rows.map(openJobOf), next };
    }),
  };
}

function openJobOf({ leased, failedAt, reason, ...job }: JobRow): OpenJob {
  return { ...job, leased: leased === 1, deadLetter: failedAt === null ? null : { failedAt, reason: reason ?? "" } };
}
