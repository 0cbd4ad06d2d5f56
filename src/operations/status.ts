import * as v from "valibot";
import packageJson from "../../package.json" with { type: "json" };
import { fieldError } from "../errors.ts";
import { chartRange, readChart, STEPS } from "../events/chart.ts";
import { chartJson } from "../events/json.ts";
import type { Backlog } from "../events/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Stores } from "../stores.ts";
import { count, text, time, timestamp } from "./fields.ts";
import { reading, type ServerContext } from "./operation.ts";
import { RouteItem, readRoutes } from "./routes.ts";

const StatusAnswer = v.object({
  version: v.string(),
  manual: v.pipe(v.boolean(), v.description("Whether this server has the documentation at `/docs/`.")),
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
  routes: v.array(RouteItem),
});

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

const StatsAnswer = v.object({
  since: timestamp,
  until: timestamp,
  step: v.picklist(STEPS),
  items: v.array(v.object({ at: timestamp, ...COUNTS, latency })),
  total: v.object({ ...COUNTS, latency }),
  sums: v.array(v.object({ source: v.string(), route: v.string(), ...COUNTS })),
});

/** The numbers of events as the API and the command show them. */
export const backlogItem = ({ oldestQueuedAt, ...counts }: Backlog) => ({
  ...counts,
  oldestQueuedAt: isoTime(oldestQueuedAt),
});

async function countNodes({ shared }: Stores): Promise<number> {
  return shared === null ? 1 : (await shared.nodes.list()).filter(({ isAlive }) => isAlive).length;
}

/** JSON has no infinity. */
const finite = (bytes: number | null) => (bytes === null || Number.isFinite(bytes) ? bytes : null);

export const status = reading({
  path: "status",
  scope: "events:read",
  summary: "Shows the server, the numbers of events in each status, and the routes.",
  input: v.object({}),
  output: StatusAnswer,
  async run(context: ServerContext) {
    const { stores, admission, configFault, startedAt, hasManual } = context;
    const [backlog, routes, nodes] = await Promise.all([
      stores.events.backlog(),
      readRoutes(context),
      countNodes(stores),
    ]);
    return {
      version: packageJson.version,
      manual: hasManual,
      startedAt,
      store: stores.shared === null ? ("sqlite" as const) : ("postgres" as const),
      nodes,
      disk: { freeBytes: finite(admission.freeBytes), minFreeBytes: finite(admission.minFreeBytes) },
      paused: admission.pausedBy(),
      configFault: configFault(),
      events: backlogItem(backlog),
      routes,
    };
  },
});

export const stats = reading({
  path: "stats",
  scope: "events:read",
  summary:
    "Counts deliveries and attempts by minute (kept for two days), hour (kept for 400 days) or day, in all and by source and route. `since` is a day before `until` by default. Latency is from receipt to the end of processing in milliseconds, estimated within a factor of two.",
  input: StatsQuery,
  output: StatsAnswer,
  async run({ stores: { events, now } }, query) {
    const range = chartRange(query, now());
    if ("fault" in range) throw fieldError(range.member, range.fault);
    const { since, until, step } = range;
    const chart = chartJson(await readChart(events, range, query));
    return { since: isoTime(since), until: isoTime(until), step, ...chart };
  },
});
