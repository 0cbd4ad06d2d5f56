import * as v from "valibot";
import { defined } from "../lib/defined.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { CatchUpResult } from "../webhook/catch-up/run.ts";
import { readOutages, readReach } from "../webhook/outages/read.ts";
import { outageJson } from "../webhook/outages/report.ts";
import { count, cursor, text, time, timestamp } from "./fields.ts";
import { type ContextWith, change, reading, type ServerContext } from "./operation.ts";

const resends = v.pipe(
  v.picklist(["automatic", "manual", "unknown"]),
  v.description("Whether its provider repeats what it could not deliver."),
);
const resendsForSeconds = v.pipe(
  v.nullable(count),
  v.description("For how long each; 0 if some types of events are never repeated, null if that is unknown."),
);

const OutageItem = v.object({
  from: timestamp,
  to: timestamp,
  kind: v.picklist(["stopped", "restart", "store", "disk", "queue"]),
  sources: v.array(
    v.object({
      name: v.string(),
      resends,
      resendsForSeconds,
      until: v.pipe(
        v.nullable(timestamp),
        v.description("When the first of the missed deliveries is no longer repeated, or cannot be asked for."),
      ),
      missed: v.pipe(v.nullable(count), v.description("Missed events that a catch-up has found.")),
      atRisk: v.boolean(),
      remedy: v.nullable(v.string()),
    }),
  ),
});

const CaughtUp = v.object({
  listed: count,
  seen: count,
  redelivered: count,
  captured: count,
  failed: count,
  left: count,
});

const ReachableSource = v.object({
  name: v.string(),
  provider: v.nullable(v.string()),
  resends,
  resendsForSeconds,
  keepsDays: v.pipe(v.nullable(count), v.description("For how long it can be asked for a delivery; null if unknown.")),
  catchUp: v.pipe(
    v.picklist(["configured", "possible", "none"]),
    v.description("`possible`: its provider has an API for it, and the source has no `catchUp`."),
  ),
  running: v.boolean(),
  ranAt: v.pipe(v.nullable(timestamp), v.description("When the last catch-up ended.")),
  coveredUntil: v.pipe(v.nullable(timestamp), v.description("Up to when a catch-up has looked.")),
  error: v.pipe(v.nullable(v.string()), v.description("Why the last catch-up was broken off.")),
  last: v.pipe(
    v.nullable(CaughtUp),
    v.description("What the last catch-up of this server has done since its start, in numbers of events."),
  ),
});

const OutagesAnswer = v.object({ items: v.array(OutageItem), sources: v.array(ReachableSource), cursor });

/** What a catch-up has done, without why it was broken off. */
function countsOf(result: CatchUpResult | null): v.InferInput<typeof CaughtUp> | null {
  if (result === null) return null;
  const { error: _, refusal: __, ...counts } = result;
  return counts;
}

export const listed = reading({
  path: "outages",
  scope: "events:read",
  summary: "Lists the times in which no delivery could be taken, and what each means for the sources.",
  input: v.object({ since: v.optional(time) }),
  output: OutagesAnswer,
  async run({ stores, sources: configured, ongoingOutage, catchUps }: ContextWith<"catchUps">, { since = 0 }) {
    const sources = await configured();
    const limits = { since, now: stores.now(), ...(ongoingOutage && { ongoing: ongoingOutage() }) };
    const reports = await readOutages(stores, sources, limits);
    const reach = await Promise.all(sources.map((source) => readReach(stores.catchUps, source)));
    return {
      items: reports.map(outageJson),
      sources: reach.map(({ ranAt, coveredUntil, ...source }) => ({
        ...source,
        running: catchUps?.isRunning(source.name) ?? false,
        ranAt: isoTime(ranAt),
        coveredUntil: isoTime(coveredUntil),
        last: countsOf(catchUps?.lastResult(source.name) ?? null),
      })),
      cursor: null,
    };
  },
});

export const catchUp = change({
  path: "sources/catch-up",
  scope: "events:write",
  summary: "Begins to get from its provider what a source has missed, as its catchUp says.",
  input: v.object({
    source: text,
    since: v.optional(time),
    all: v.optional(
      v.pipe(v.boolean(), v.description("Also get what the provider has delivered and the store has not.")),
    ),
  }),
  output: v.object({
    started: v.pipe(v.boolean(), v.description("False if a catch-up of the source runs already.")),
  }),
  audited: {
    action: "source.catch_up",
    asked: ({ source, since, all }) => ({
      source,
      ...(since !== undefined && { since: isoTime(since) }),
      ...(all && { all }),
    }),
    outcome: ({ started }) => (started ? {} : null),
  },
  run: async ({ catchUps }: ServerContext, { source, since, all: isAll }) => ({
    started: catchUps.begin(source, defined({ since, isAll })),
  }),
});
