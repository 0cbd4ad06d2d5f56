import * as v from "valibot";
import { AppError } from "../errors.ts";
import type { RouteRecord } from "../events/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import { conditionTexts } from "../worker/conditions.ts";
import { retryDelaysMs } from "../worker/decide.ts";
import { targetOf } from "../worker/route.ts";
import { count, cursor, forMs, text, timestamp } from "./fields.ts";
import { change, ifChanged, type OperationContext, reading } from "./operation.ts";

export const RouteItem = v.object({
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
});

const milliseconds = v.pipe(count, v.description("Milliseconds."));

const RouteAnswer = v.object({
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

const NO_JOBS: Omit<RouteRecord, "route"> = {
  ...{ queued: 0, processed: 0, failed: 0, discarded: 0 },
  ...{ pausedAt: null, pausedUntil: null },
};

/** The configured routes, and then others that have jobs or are paused. */
export async function readRoutes({
  stores: { events, now },
  routes,
  isAvailable,
}: OperationContext): Promise<v.InferOutput<typeof RouteItem>[]> {
  const configured = new Map((await routes()).map((route) => [route.name, route]));
  const [records, unavailable] = await Promise.all([events.routes(now()), events.unavailableRoutes(now())]);
  const byName = new Map(records.map(({ route, ...record }) => [route, record]));
  return [...new Set([...configured.keys(), ...byName.keys()])].map((name) => {
    const route = configured.get(name);
    const { pausedAt, pausedUntil, ...counts } = byName.get(name) ?? NO_JOBS;
    const outage = unavailable.find((one) => one.route === name);
    return {
      name,
      configured: route !== undefined,
      sources: route?.sources ? [...route.sources] : null,
      types: [...(route?.types ?? [])],
      handler: route?.handler.kind ?? null,
      target: route ? targetOf(route.handler) : null,
      ...counts,
      pausedAt: isoTime(pausedAt),
      pausedUntil: isoTime(pausedUntil),
      available: outage === undefined && isAvailable(name),
      unavailableSince: isoTime(outage?.since ?? null),
      nextProbeAt: isoTime(outage?.probeAt ?? null),
    };
  });
}

export const listed = reading({
  path: "routes",
  scope: "events:read",
  summary: "Lists the routes with the numbers of their jobs, and why they wait.",
  input: v.object({}),
  output: v.object({ items: v.array(RouteItem), cursor }),
  run: async (context) => ({ items: await readRoutes(context), cursor: null }),
});

export const shown = reading({
  path: "routes/one",
  scope: "events:read",
  summary: "Shows what the configured route of `?name=` takes, and how it retries.",
  input: v.object({ name: text }),
  output: RouteAnswer,
  async run({ routes }, { name }) {
    const route = (await routes()).find((one) => one.name === name);
    if (!route) throw new AppError("not_found");
    const { retry, sources, types, when, orderBy, whenStuck, timeoutMs, concurrency, ratePerSecond } = route;
    return {
      ...{ name, orderBy, whenStuck, timeoutMs, concurrency, ratePerSecond },
      sources: sources && [...sources],
      types: [...types],
      when: conditionTexts(when),
      attempts: retry.attempts,
      delaysMs: retryDelaysMs(retry, () => 0.5),
      giveUpOn: (retry.giveUpOn ?? []).map(
        ({ from, to, isExcluded }) => `${isExcluded ? "!" : ""}${from}${to === from ? "" : `-${to}`}`,
      ),
    };
  },
});

async function requireRoute(context: OperationContext, route: string): Promise<void> {
  if (!(await readRoutes(context)).some(({ name }) => name === route)) throw new AppError("not_found");
}

const RouteBody = v.object({ route: text });
const ChangedAnswer = v.object({ changed: v.boolean() });

export const pause = change({
  path: "routes/pause",
  scope: "events:write",
  summary: "Pauses a route: its jobs wait, and running attempts end as usual. A pause that lasts gets the new end.",
  input: v.object({
    ...RouteBody.entries,
    forMs: v.optional(
      v.pipe(forMs, v.description("After how many milliseconds the pause ends by itself. Default: never.")),
    ),
  }),
  output: ChangedAnswer,
  audited: {
    action: "route.pause",
    asked: ({ route, forMs = null }) => ({ route, forMs }),
    outcome: ifChanged,
  },
  async run(context, { route, forMs }) {
    await requireRoute(context, route);
    const { events, now } = context.stores;
    const until = forMs === undefined ? undefined : now() + forMs;
    return { changed: await events.pauseRoute(route, now(), until) };
  },
});

export const resume = change({
  path: "routes/resume",
  scope: "events:write",
  summary: "Ends the pause of a route.",
  input: RouteBody,
  output: ChangedAnswer,
  audited: { action: "route.resume", asked: ({ route }) => ({ route }), outcome: ifChanged },
  async run(context, { route }) {
    await requireRoute(context, route);
    return { changed: await context.stores.events.resumeRoute(route, context.stores.now()) };
  },
});

export const tryNow = change({
  path: "routes/try",
  scope: "events:write",
  summary: "Tries the unavailable target of a route now, instead of at the next probe.",
  input: RouteBody,
  output: ChangedAnswer,
  audited: { action: "route.try", asked: ({ route }) => ({ route }), outcome: ifChanged },
  async run(context, { route }) {
    await requireRoute(context, route);
    return { changed: await context.stores.events.tryRoute(route, context.stores.now()) };
  },
});
