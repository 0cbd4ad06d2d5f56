import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, changeEndpoint, queryEndpoint } from "./endpoint.ts";
import { count, cursor, text, time, timestamp } from "./fields.ts";

export interface OutageParts extends AdminGuard {
  outages: {
    /** The outages that had not ended at a time, in Unix milliseconds, and what is known of the sources. */
    read(since: number): Promise<Pick<v.InferOutput<typeof OutagesAnswer>, "items" | "sources">>;
    /** Begins a catch-up. Returns false if one runs. Throws if the source is not configured to catch up. */
    catchUp(source: string): boolean;
  };
}

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
  kind: v.picklist(["stopped", "store", "disk", "queue"]),
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

export const OutagesAnswer = v.object({ items: v.array(OutageItem), sources: v.array(ReachableSource), cursor });

const OutagesQuery = v.object({ since: v.optional(time) });

const CatchUpBody = v.object({ source: text });
const CatchUpAnswer = v.object({
  started: v.pipe(v.boolean(), v.description("False if a catch-up of the source runs already.")),
});

/** The times in which no delivery could be taken, and catch-ups. */
export function outageEndpoints(parts: OutageParts): Endpoint[] {
  return [
    queryEndpoint(parts, {
      path: "/admin/api/outages",
      scope: "events:read",
      summary: "Lists the times in which no delivery could be taken, and what each means for the sources.",
      query: OutagesQuery,
      response: OutagesAnswer,
      read: async ({ since = 0 }) => ({ ...(await parts.outages.read(since)), cursor: null }),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/sources/catch-up",
      scope: "events:write",
      summary: "Begins to get from its provider what a source has missed, as its catchUp says.",
      request: CatchUpBody,
      response: CatchUpAnswer,
      audited: {
        action: "source.catch_up",
        asked: ({ source }) => ({ source }),
        outcome: ({ started }) => (started ? {} : null),
      },
      change: async ({ source }) => ({ started: parts.outages.catchUp(source) }),
    }),
  ];
}
