import * as v from "valibot";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, readEndpoint } from "./endpoint.ts";
import { count, cursor, timestamp } from "./fields.ts";

export interface SourceParts extends AdminGuard {
  readSources: () => Promise<v.InferOutput<typeof SourceItem>[]>;
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
  findings: v.pipe(
    v.array(v.object({ found: v.string(), remedy: v.string() })),
    v.description("What is left to do of a rotation of secrets."),
  ),
  keepsRejected: v.pipe(v.boolean(), v.description("Whether refused deliveries are held.")),
  expectEvery: v.pipe(v.nullable(count), v.description("Milliseconds.")),
  silent: v.pipe(v.boolean(), v.description("Whether nothing came for longer than `expectEvery`.")),
});

export const SourcesAnswer = v.object({ items: v.array(SourceItem), cursor });

/** The sources. */
export function sourceEndpoints(parts: SourceParts): Endpoint[] {
  return [
    readEndpoint(parts, {
      path: "/admin/api/sources",
      scope: "events:read",
      summary: "Lists the sources with what they have received and refused. Secrets are named, and not shown.",
      response: SourcesAnswer,
      read: async () => ({ items: await parts.readSources(), cursor: null }),
    }),
  ];
}
