import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, count, cursor, queryEndpoint, time, timestamp } from "./api.ts";

export interface OutageParts extends AdminGuard {
  /** The outages that had not ended at a time, in Unix milliseconds. */
  readOutages: (since: number) => Promise<v.InferOutput<typeof OutageItem>[]>;
}

const OutageItem = v.object({
  from: timestamp,
  to: timestamp,
  kind: v.picklist(["stopped", "store", "disk", "queue"]),
  sources: v.array(
    v.object({
      name: v.string(),
      resends: v.pipe(
        v.picklist(["automatic", "manual", "unknown"]),
        v.description("Whether its provider repeats what it could not deliver."),
      ),
      resendsForSeconds: v.nullable(count),
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

const OutagesAnswer = v.object({ items: v.array(OutageItem), cursor });

const OutagesQuery = v.object({ since: v.optional(time) });

/** The times in which no delivery could be taken. */
export function outageEndpoints(parts: OutageParts): Endpoint[] {
  return [
    queryEndpoint(parts, {
      path: "/admin/api/outages",
      scope: "events:read",
      summary: "Lists the times in which no delivery could be taken, and what each means for the sources.",
      query: OutagesQuery,
      response: OutagesAnswer,
      read: async ({ since = 0 }) => ({ items: await parts.readOutages(since), cursor: null }),
    }),
  ];
}
