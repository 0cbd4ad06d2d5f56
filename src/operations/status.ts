import * as v from "valibot";
import { AppError } from "../errors.ts";
import { chartRange, readChart, STEPS } from "../events/chart.ts";
import { chartJson } from "../events/json.ts";
import type { EventStore } from "../events/store.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type AdminGuard, changeEndpoint, queryEndpoint, readEndpoint } from "./endpoint.ts";
import { count, fieldError, forMs, text, time, timestamp } from "./fields.ts";
import { ifChanged } from "./operation.ts";

export interface StatusParts extends AdminGuard {
  events: Pick<EventStore, "stats" | "pauseRoute" | "resumeRoute" | "tryRoute">;
  readStatus: () => Promise<v.InferOutput<typeof StatusAnswer>>;
  readRoutes: () => Promise<v.InferOutput<typeof StatusAnswer>["routes"]>;
  /** Null if it is not configured. */
  readRoute: (name: string) => v.InferOutput<typeof RouteAnswer> | null;
  now: () => number;
}

export const StatusAnswer = v.object({
  version: v.string(),
  startedAt: timestamp,
  store: v.picklist(["sqlite", "postgres"]),
  nodes: v.pipe(count, v.description("The live servers on this database.")),
  disk: v.object({
    freeBytes: v.pipe(v.nullable(count), v.description("Null if it is unknown or has no limit.")),
    minFreeBytes: v.nullable(count),
  }),
  /** Why deliveries are refused now; null if they are taken. */
  paused: v.nullable(v.string()),
  configFault: v.pipe(
    v.nullable(v.string()),
    v.description(
      "Why the newest configuration file is not in use: a line for each fault, with file, line and column.",
    ),
  ),
  events: v.object({
    queued: count,
    processed: count,
    failed: count,
    discarded: count,
    unrouted: count,
    conflicts: count,
    unreadable: count,
    oldestQueuedAt: v.nullable(timestamp),
    ids: count,
    bytes: count,
  }),
  routes: v.array(
    v.object({
      name: v.string(),
      configured: v.boolean(),
      sources: v.pipe(v.nullable(v.array(v.string())), v.description("Null: all.")),
      types: v.array(v.string()),
      handler: v.nullable(v.picklist(["http", "exec", "module", "log"])),
      target: v.nullable(v.string()),
      queued: count,
      processed: count,
      failed: count,
      discarded: count,
      pausedAt: v.nullable(timestamp),
      pausedUntil: v.pipe(v.nullable(timestamp), v.description("When the pause ends by itself. Null: never.")),
      available: v.boolean(),
      unavailableSince: v.nullable(timestamp),
      nextProbeAt: v.pipe(v.nullable(timestamp), v.description("Null also while a probe is running.")),
    }),
  ),
});

const milliseconds = v.pipe(count, v.description("Milliseconds."));

export const RouteAnswer = v.object({
  name: v.string(),
  sources: v.pipe(v.nullable(v.array(v.string())), v.description("Null: all.")),
  types: v.pipe(v.array(v.string()), v.description("Empty: all.")),
  when: v.pipe(v.array(v.string()), v.description("The conditions, in words. All must hold.")),
  orderBy: v.nullable(v.string()),
  whenStuck: v.picklist(["block", "skip"]),
  timeoutMs: milliseconds,
  concurrency: count,
  ratePerSecond: v.nullable(v.number()),
  attempts: count,
  delaysMs: v.pipe(v.array(milliseconds), v.description("The usual delays before the further attempts.")),
  giveUpOn: v.array(v.string()),
});

const RouteQuery = v.object({ name: text });

/** The query of statistics. */
const StatsQuery = v.object({
  since: v.optional(time),
  until: v.optional(time),
  step: v.optional(v.picklist(STEPS, `must be one of ${STEPS.join(", ")}`)),
  source: v.optional(text),
  route: v.optional(text),
});

const COUNTS = {
  received: count,
  duplicate: count,
  conflict: count,
  repeat: count,
  refused: count,
  unrouted: count,
  processed: count,
  retried: count,
  deadLettered: count,
};
const latency = v.nullable(v.object({ p50: count, p95: count, p99: count }));

export const StatsAnswer = v.object({
  since: timestamp,
  until: timestamp,
  step: v.picklist(STEPS),
  items: v.array(v.object({ at: timestamp, ...COUNTS, latency })),
  total: v.object({ ...COUNTS, latency }),
  sums: v.array(v.object({ source: v.string(), route: v.string(), ...COUNTS })),
});

const RouteBody = v.object({ route: text });
const PauseBody = v.object({
  ...RouteBody.entries,
  forMs: v.optional(
    v.pipe(forMs, v.description("After how many milliseconds the pause ends by itself. Default: never.")),
  ),
});
const ChangedAnswer = v.object({ changed: v.boolean() });

/** The state of the server, what it has counted over time, and the routes of events. */
export function statusEndpoints(parts: StatusParts): Endpoint[] {
  const { events, readStatus, readRoutes, now } = parts;

  async function requireRoute(route: string): Promise<void> {
    if (!(await readRoutes()).some(({ name }) => name === route)) throw new AppError("not_found");
  }

  return [
    readEndpoint(parts, {
      path: "/admin/api/status",
      scope: "events:read",
      summary: "Shows the server, the numbers of events in each status, and the routes.",
      response: StatusAnswer,
      read: readStatus,
    }),
    queryEndpoint(parts, {
      path: "/admin/api/stats",
      scope: "events:read",
      summary:
        "Counts deliveries and attempts by minute (kept for two days), hour (kept for 400 days) or day, in all and by source and route. `since` is a day before `until` by default. Latency is from receipt to the end of processing in milliseconds, estimated within a factor of two.",
      query: StatsQuery,
      response: StatsAnswer,
      async read(query) {
        const range = chartRange(query, now());
        if ("fault" in range) throw fieldError(range.member, range.fault);
        const { since, until, step } = range;
        return {
          since: isoTime(since),
          until: isoTime(until),
          step,
          ...chartJson(await readChart(events, range, query)),
        };
      },
    }),
    queryEndpoint(parts, {
      path: "/admin/api/routes/one",
      scope: "events:read",
      summary: "Shows what the configured route of `?name=` takes, and how it retries.",
      query: RouteQuery,
      response: RouteAnswer,
      async read({ name }) {
        const found = parts.readRoute(name);
        if (found === null) throw new AppError("not_found");
        return found;
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/routes/pause",
      scope: "events:write",
      summary: "Pauses a route: its jobs wait, and running attempts end as usual. A pause that lasts gets the new end.",
      request: PauseBody,
      response: ChangedAnswer,
      audited: {
        action: "route.pause",
        asked: ({ route, forMs = null }) => ({ route, forMs }),
        outcome: ifChanged,
      },
      async change({ route, forMs }) {
        await requireRoute(route);
        const until = forMs === undefined ? undefined : now() + forMs;
        return { changed: await events.pauseRoute(route, now(), until) };
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/routes/resume",
      scope: "events:write",
      summary: "Ends the pause of a route.",
      request: RouteBody,
      response: ChangedAnswer,
      audited: { action: "route.resume", asked: ({ route }) => ({ route }), outcome: ifChanged },
      async change({ route }) {
        await requireRoute(route);
        return { changed: await events.resumeRoute(route, now()) };
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/routes/try",
      scope: "events:write",
      summary: "Tries the unavailable target of a route now, instead of at the next probe.",
      request: RouteBody,
      response: ChangedAnswer,
      audited: { action: "route.try", asked: ({ route }) => ({ route }), outcome: ifChanged },
      async change({ route }) {
        await requireRoute(route);
        return { changed: await events.tryRoute(route, now()) };
      },
    }),
  ];
}
