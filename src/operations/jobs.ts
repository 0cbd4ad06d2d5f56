import * as v from "valibot";
import { JOB_STATUSES } from "../events/event.ts";
import { openJobJson } from "../events/json.ts";
import { EVENTS_PER_PAGE } from "../events/limits.ts";
import { eachPage } from "../events/pages.ts";
import type { EventStore, OpenJob } from "../events/store.ts";
import { defined } from "../lib/defined.ts";
import { isoTime } from "../lib/iso-time.ts";
import { CONDITIONS_OF_JOBS, count, cursor, jobCursor, limit, text, timestamp } from "./fields.ts";
import { reading } from "./operation.ts";

/** A queued or failed job. */
const OpenJobItem = v.object({
  route: v.string(),
  status: v.picklist(JOB_STATUSES),
  attempts: v.pipe(count, v.description("In all, also before a replay.")),
  nextAttemptAt: v.nullable(timestamp),
  leased: v.boolean(),
  orderingKey: v.nullable(v.string()),
  lastError: v.nullable(v.string()),
  deadLetter: v.nullable(v.object({ failedAt: timestamp, reason: v.string() })),
});

/** A job of an event. */
export const JobItem = v.object({
  ...OpenJobItem.entries,
  replays: v.pipe(count, v.description("How often it was replayed.")),
  probes: v.pipe(count, v.description("Attempts that only tried whether the target is available again.")),
  budget: v.pipe(
    v.object({ used: count, of: v.nullable(count) }),
    v.description(
      "The attempts that the policy of the route counts, since the job was made or last replayed, and how many it allows.",
    ),
  ),
  waits: v.pipe(
    v.nullable(
      v.object({
        reason: v.picklist(["running", "paused", "earlier_event", "target_unavailable", "delay", "due"]),
        since: v.nullable(timestamp),
        until: v.nullable(timestamp),
        event: v.nullable(v.object({ source: v.string(), eventId: v.string(), status: v.picklist(JOB_STATUSES) })),
      }),
    ),
    v.description("Why a queued job is not processed yet."),
  ),
  discarded: v.nullable(v.object({ discardedAt: timestamp, reason: v.string() })),
  history: v.array(
    v.object({
      attempt: v.pipe(count, v.description("Its number among all attempts of the job, without probes.")),
      startedAt: timestamp,
      finishedAt: timestamp,
      outcome: v.picklist(["succeeded", "failed", "lease_expired"]),
      error: v.nullable(v.string()),
      responseStatus: v.pipe(v.nullable(count), v.description("The HTTP status of the target's answer.")),
      response: v.nullable(v.string()),
      isProbe: v.boolean(),
      replay: v.pipe(
        v.nullable(count),
        v.description(
          "The replay that it belongs to; 0 before the first. Null for attempts made by version 0.3.0 or older.",
        ),
      ),
      attemptOfBudget: v.pipe(
        v.nullable(count),
        v.description("Its number since the job was made or replayed. Null as `replay`."),
      ),
    }),
  ),
});

export const listed = reading({
  path: "jobs",
  scope: "events:read",
  summary:
    "Lists the jobs that failed, or with `status=queued` those that wait, in the order of arrival of their events. A request compares a limited number of jobs: go on while `cursor` is not null.",
  input: v.object({
    status: v.optional(v.picklist(["failed", "queued"], "must be failed or queued"), "failed"),
    route: v.optional(text),
    ...CONDITIONS_OF_JOBS,
    limit: v.optional(limit, "50"),
    cursor: v.optional(jobCursor),
  }),
  output: v.object({
    items: v.array(
      v.object({
        source: v.string(),
        eventId: v.string(),
        type: v.string(),
        receivedAt: timestamp,
        ...OpenJobItem.entries,
      }),
    ),
    cursor,
  }),
  async run({ stores: { events } }, { cursor, limit, ...filter }) {
    const { items, next } = await events.jobs(defined(filter), { cursor, limit });
    return { items: items.map(openJobJson), cursor: next };
  },
});

export const errors = reading({
  path: "jobs/errors",
  scope: "events:read",
  summary:
    "Groups the dead letters by route and error, or with `route` those of one route. If `cursor` is not null, ask again with it, and add the groups up.",
  input: v.object({ route: v.optional(text), cursor: v.optional(jobCursor) }),
  output: v.object({
    items: v.array(
      v.object({
        route: v.string(),
        error: v.string(),
        count,
        oldestAt: timestamp,
        newestAt: timestamp,
        firstFailedAt: timestamp,
        lastFailedAt: timestamp,
        sources: v.record(v.string(), count),
        types: v.record(v.string(), count),
        trend: v.pipe(
          v.array(count),
          v.description("How many failed in each of the last 24 hours, the last one last."),
        ),
        eventId: v.string(),
        source: v.string(),
      }),
    ),
    cursor,
  }),
  async run({ stores: { events, now } }, { route, cursor }) {
    const found = await groupErrors(events, { route, cursor, now: now() });
    const items = found.groups.map(({ oldestAt, newestAt, firstFailedAt, lastFailedAt, ...group }) => ({
      ...group,
      oldestAt: isoTime(oldestAt),
      newestAt: isoTime(newestAt),
      firstFailedAt: isoTime(firstFailedAt),
      lastFailedAt: isoTime(lastFailedAt),
    }));
    return { items, cursor: found.cursor };
  },
});

/** Dead letters of a route with the same error. Times are Unix milliseconds. */
interface ErrorGroup {
  route: string;
  error: string;
  count: number;
  /** When the first and the last of their events were received. */
  oldestAt: number;
  newestAt: number;
  firstFailedAt: number;
  lastFailedAt: number;
  /** How many are of each source, of each type, and of each of the last hours. */
  sources: Record<string, number>;
  types: Record<string, number>;
  trend: number[];
  /** The last of their events. */
  eventId: string;
  source: string;
}

// A request ends after this time, and its sender continues with the cursor.
const BUDGET_MS = 3000;

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** A sender may have any number of types. */
const MAX_NAMES = 20;

/** Groups the dead letters by route and error, for a limited time. `cursor` continues it; null when all is done. */
async function groupErrors(
  events: Pick<EventStore, "jobs">,
  { route, cursor, now }: { route: string | undefined; cursor: string | undefined; now: number },
): Promise<{ groups: ErrorGroup[]; cursor: string | null }> {
  const deadline = performance.now() + BUDGET_MS;
  const groups = new Map<string, ErrorGroup>();
  const { next } = await eachPage(
    async (page) => {
      const { items, next } = await events.jobs(defined({ status: "failed" as const, route }), page);
      for (const job of items) addTo(groups, job, now);
      return { count: items.length, next };
    },
    { cursor, limit: EVENTS_PER_PAGE },
    async () => performance.now() < deadline,
  );
  return { groups: [...groups.values()].sort((a, b) => b.count - a.count), cursor: next };
}

/** Counts a name, of which a group has only so many. */
function countName(counts: Record<string, number>, name: string): void {
  const known = counts[name];
  if (known !== undefined || Object.keys(counts).length < MAX_NAMES) counts[name] = (known ?? 0) + 1;
}

function addTo(
  groups: Map<string, ErrorGroup>,
  { route, lastError, deadLetter, receivedAt, eventId, source, type }: OpenJob,
  now: number,
): void {
  const failedAt = deadLetter?.failedAt ?? receivedAt;
  const error = lastError ?? deadLetter?.reason ?? "";
  const name = JSON.stringify([route, error]);
  const known = groups.get(name) ?? {
    route,
    error,
    count: 0,
    oldestAt: receivedAt,
    newestAt: receivedAt,
    firstFailedAt: failedAt,
    lastFailedAt: failedAt,
    sources: Object.create(null) as Record<string, number>,
    types: Object.create(null) as Record<string, number>,
    trend: Array.from({ length: HOURS }, () => 0),
    eventId,
    source,
  };
  known.count++;
  countName(known.sources, source);
  countName(known.types, type);
  const hour = HOURS - 1 - Math.max(0, Math.floor((now - failedAt) / HOUR_MS));
  if (hour >= 0) known.trend[hour] = (known.trend[hour] ?? 0) + 1;
  known.firstFailedAt = Math.min(known.firstFailedAt, failedAt);
  known.lastFailedAt = Math.max(known.lastFailedAt, failedAt);
  known.oldestAt = Math.min(known.oldestAt, receivedAt);
  if (receivedAt >= known.newestAt) Object.assign(known, { newestAt: receivedAt, eventId, source });
  groups.set(name, known);
}
