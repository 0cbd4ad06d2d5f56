import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import {
  type AdminGuard,
  count,
  cursor,
  limit,
  listCursor,
  queryEndpoint,
  readEndpoint,
  text,
  time,
  timestamp,
} from "./api.ts";

export interface SourceParts extends AdminGuard {
  readSources: () => Promise<v.InferOutput<typeof SourceItem>[]>;
  readHeld: (filter: v.InferOutput<typeof HeldQuery>) => Promise<v.InferOutput<typeof HeldAnswer>>;
}

export const SourceItem = v.object({
  name: v.string(),
  path: v.string(),
  url: v.pipe(v.string(), v.description("Where the sender delivers.")),
  preset: v.nullable(v.string()),
  secrets: v.array(v.string()),
  received: count,
  refused: count,
  refusals: v.pipe(v.record(v.string(), count), v.description("The refused by their reason, the most frequent first.")),
  lastReceivedAt: v.nullable(timestamp),
  lastSecret: v.nullable(v.string()),
  secretUses: v.array(v.object({ name: v.string(), firstUsedAt: timestamp, lastUsedAt: timestamp })),
  expectEvery: v.pipe(v.nullable(count), v.description("Milliseconds.")),
  silent: v.pipe(v.boolean(), v.description("Whether nothing came for longer than `expectEvery`.")),
});

export const SourcesAnswer = v.object({ items: v.array(SourceItem), cursor });

/** The query of a list of held deliveries. */
const HeldQuery = v.object({
  source: v.optional(text),
  since: v.optional(time),
  limit: v.optional(limit, "50"),
  cursor: v.optional(listCursor),
});

const HeldAnswer = v.object({
  items: v.array(
    v.object({
      id: count,
      source: v.string(),
      reason: v.string(),
      mediaType: v.string(),
      address: v.string(),
      receivedAt: timestamp,
      bytes: count,
    }),
  ),
  cursor,
});

/** The sources, and the deliveries that were refused for their signature. */
export function sourceEndpoints(parts: SourceParts): Endpoint[] {
  return [
    queryEndpoint(parts, {
      path: "/admin/api/held",
      summary:
        "Lists deliveries that were refused for their signature, of sources with `keepRejected`, in order of arrival.",
      query: HeldQuery,
      response: HeldAnswer,
      read: parts.readHeld,
    }),
    readEndpoint(parts, {
      path: "/admin/api/sources",
      summary: "Lists the sources with what they have received and refused. Secrets are named, and not shown.",
      response: SourcesAnswer,
      read: async () => ({ items: await parts.readSources(), cursor: null }),
    }),
  ];
}
