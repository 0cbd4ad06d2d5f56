import type { JobStatus } from "./event.ts";
import { MAX_COMPARED_JOBS } from "./limits.ts";
import { matchesError } from "./matches-error.ts";
import type { JobFilter, OpenJob } from "./store.ts";
import { typeFilter } from "./type-list.ts";

/** The events of a page: after one, up to one. */
interface Range {
  after: number;
  last: number;
}

/**
 * Some events in order, each with those of its routes whose jobs match a filter. `next` is the cursor of the next page.
 */
export interface FoundJobs {
  events: Map<number, string[]>;
  next: string | null;
}

/**
 * The events that a cursor leaves. It is the last event of the page before and the last one of the first page's time:
 * "17-2000". So jobs that fail later are not found again.
 */
export function rangeOf(cursor: string): Range {
  const [after = 0, last = 0] = cursor.split("-").map(Number);
  return { after, last };
}

/** What a filter of jobs compares of an event. */
export type JobOrigin = Pick<OpenJob, "source" | "type" | "receivedAt">;

/**
 * Chooses the jobs that match a filter among the next jobs of its status, which are in the order of their events.
 * `originOf` is asked only for a filter that needs it.
 */
export function chooseJobs<Row extends { event: number; route: string; lastError: string | null }>(
  rows: readonly Row[],
  originOf: (row: Row) => JobOrigin | undefined,
  filter: JobFilter,
  { last, limit }: Pick<Range, "last"> & { limit: number },
): FoundJobs {
  // The last event may have more jobs than were read. The next page begins with it.
  let end = rows.length === MAX_COMPARED_JOBS ? (rows.at(-1)?.event ?? 0) - 1 : last;
  const events = new Map<number, string[]>();
  const matches = matcherOf(originOf, filter);
  for (const row of rows) {
    if (row.event > end) break;
    if (!matches(row)) continue;
    const routes = events.get(row.event);
    if (routes) routes.push(row.route);
    else if (events.size < limit) events.set(row.event, [row.route]);
    else end = row.event - 1;
  }
  return { events, next: end < last ? `${end}-${last}` : null };
}

/** Whether a filter compares more of a job than its own row has. */
export const comparesOrigins = ({ source, type, since, until }: JobFilter) =>
  [source, type, since, until].some((member) => member !== undefined);

/** Creates a function that tells whether a job matches a filter. */
function matcherOf<Row extends { route: string; lastError: string | null }>(
  originOf: (row: Row) => JobOrigin | undefined,
  filter: JobFilter,
): (row: Row) => boolean {
  const { route, error, source, type, since, until } = filter;
  const takes = type === undefined ? () => true : typeFilter(type);
  return (row) => {
    if (route !== undefined && route !== row.route) return false;
    if (error !== undefined && !matchesError(row.lastError, error)) return false;
    if (!comparesOrigins(filter)) return true;
    const origin = originOf(row);
    if (!origin) return false;
    if ((source ?? origin.source) !== origin.source || !takes(origin.type)) return false;
    return origin.receivedAt >= (since ?? origin.receivedAt) && (until === undefined || origin.receivedAt < until);
  };
}

/** A job that a replay or a discard may change. */
interface ChangeableJob {
  route: string;
  status: JobStatus;
  leaseOwner: string | null;
}

/** Whether a replay queues a job again. */
export const isReplayable = ({ status }: ChangeableJob) => status === "failed";

/** Whether a job can be discarded. Running attempts go on. */
export const isDiscardable = ({ status, leaseOwner }: ChangeableJob) =>
  status === "failed" || (status === "queued" && leaseOwner === null);

/**
 * Whether a job is still one of a page, with these routes of its event. It may have changed since the page was read.
 */
export const isStillFound = ({ route, status }: ChangeableJob, routes: readonly string[], filter: JobFilter) =>
  status === filter.status && routes.includes(route);

/** A queued or failed job as it is read: a driver has no objects in a row. */
export type OpenJobRow = Omit<OpenJob, "leased" | "deadLetter"> & {
  leased: boolean | number;
  failedAt: number | null;
  reason: string | null;
};

/** A queued or failed job of a row. */
export function openJobOf({ leased, failedAt, reason, ...job }: OpenJobRow): OpenJob {
  return { ...job, leased: Boolean(leased), deadLetter: failedAt === null ? null : { failedAt, reason: reason ?? "" } };
}
