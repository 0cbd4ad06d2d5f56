import * as v from "valibot";
import { silenceOf } from "../alerts/rules.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { Stores } from "../stores.ts";
import type { SourceRecord } from "../webhook/intake/source-store.ts";
import { rotationFindings } from "../webhook/secrets/rotation.ts";
import type { Source } from "../webhook/source.ts";
import { count, cursor, timestamp } from "./fields.ts";
import { type ContextWith, reading } from "./operation.ts";

const SourceItem = v.object({
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

const SourcesAnswer = v.object({ items: v.array(SourceItem), cursor });

/** The sources with what is known of them, but where the sender delivers. */
function sourceItems(sources: readonly Source[], records: readonly SourceRecord[], now: number) {
  const byName = new Map(records.map((record) => [record.source, record]));
  return sources.map((source) => {
    const { name, path, preset, secrets, keys = [], expectEveryMs = null, keepRejected } = source;
    const record = byName.get(name);
    const { received = 0, refused = 0, refusals = {}, lastReceivedAt = null, lastSecret = null } = record ?? {};
    return {
      ...{ name, path, preset },
      secrets: [...secrets, ...keys].map((credential) => credential.name),
      ...{ received, refused, refusals, lastReceivedAt: isoTime(lastReceivedAt), lastSecret },
      secretUses: (record?.secrets ?? []).map(({ name: used, firstUsedAt, lastUsedAt }) => ({
        name: used,
        firstUsedAt: isoTime(firstUsedAt),
        lastUsedAt: isoTime(lastUsedAt),
      })),
      findings: rotationFindings(source, record, now),
      keepsRejected: keepRejected !== undefined,
      expectEvery: expectEveryMs,
      silent: silenceOf({ expectEveryMs, lastReceivedAt }, now) !== null,
    };
  });
}

/** There may be no stores yet. */
export type ListContext = Pick<ContextWith<"addresses">, "sources" | "addresses"> & {
  stores: { sources: Pick<Stores["sources"], "list">; now(): number };
};

export const listed = reading({
  path: "sources",
  scope: "events:read",
  summary: "Lists the sources with what they have received and refused. Secrets are named, and not shown.",
  input: v.object({}),
  output: SourcesAnswer,
  async run({ stores, sources, addresses }: ListContext) {
    const items = sourceItems(await sources(), await stores.sources.list(), stores.now());
    // A command does not know where the server is reached.
    const base = addresses?.public ?? "";
    return { items: items.map((source) => ({ ...source, url: base + source.path })), cursor: null };
  },
});
