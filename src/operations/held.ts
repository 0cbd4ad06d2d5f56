import * as v from "valibot";
import { AppError, fieldError } from "../errors.ts";
import { payloadJson } from "../events/json.ts";
import { canonicalAddress } from "../http/proxies.ts";
import { defined } from "../lib/defined.ts";
import { isoTime } from "../lib/iso-time.ts";
import type { HeldDelivery } from "../webhook/held/held-store.ts";
import { readInParts } from "../webhook/held/held-store.ts";
import { parseRawRequest, rawRequestOf, sentToOf } from "../webhook/held/raw-request.ts";
import { shownHeaders, shownPath } from "../webhook/held/shown-held.ts";
import { admitHeld, createReverify } from "../webhook/stages/reverify.ts";
import { ExplanationAnswer } from "./explanation.ts";
import { count, cursor, limit, listCursor, text, time, timestamp } from "./fields.ts";
import { change, type OperationContext, reading, type ServerContext } from "./operation.ts";

// What can be done with deliveries that were refused for their signature.

const HeldItem = v.object({
  id: count,
  source: v.string(),
  reason: v.string(),
  mediaType: v.string(),
  address: v.string(),
  receivedAt: timestamp,
  bytes: count,
});

export const listed = reading({
  path: "held",
  scope: "events:read",
  summary:
    "Lists deliveries that were refused for their signature, of sources with `keepRejected`, in order of arrival.",
  input: v.object({
    source: v.optional(text),
    since: v.optional(time),
    limit: v.optional(limit, "50"),
    cursor: v.optional(listCursor),
  }),
  output: v.object({ items: v.array(HeldItem), cursor }),
  async run({ stores: { held } }, { cursor, limit, ...filter }) {
    const after = cursor === undefined ? 0 : Number(cursor);
    const rows = await held.list({ ...defined(filter), after, limit });
    const items = rows.map((row) => ({ ...row, receivedAt: isoTime(row.receivedAt) }));
    return { items, cursor: rows.length === limit ? String(rows.at(-1)?.id) : null };
  },
});

const RefusalItem = v.object({
  receivedAt: timestamp,
  source: v.pipe(v.nullable(v.string()), v.description("Null if no source has the path.")),
  path: v.pipe(v.nullable(v.string()), v.description("The path that no source has.")),
  near: v.pipe(v.nullable(v.string()), v.description("The path that was probably meant instead.")),
  reason: v.pipe(v.string(), v.description("An error code, or why there was that error.")),
  address: v.string(),
});

export const refusals = reading({
  path: "refusals",
  scope: "events:read",
  summary:
    "Lists the newest 100 refused deliveries of the last 30 days, the newest first: those of this server, and of any server before its start. Some are requests to paths near those of sources, since its start.",
  input: v.object({}),
  output: v.object({ items: v.array(RefusalItem), cursor }),
  async run({ recentRefusals }: ServerContext) {
    const items = recentRefusals().map((refusal) => ({ ...refusal, receivedAt: isoTime(refusal.receivedAt) }));
    return { items, cursor: null };
  },
});

const ShownHeldItem = v.object({
  ...HeldItem.entries,
  method: v.string(),
  url: v.string(),
  headers: v.record(v.string(), v.string()),
  payload: v.string(),
  payloadBase64: v.optional(v.string()),
});

export type ShownHeld = v.InferOutput<typeof ShownHeldItem>;

/** A held delivery without values of headers that may be secrets. */
export function shownHeld(id: number, delivery: HeldDelivery): ShownHeld {
  const { source, reason, method, origin, address, receivedAt, mediaType, body } = delivery;
  return {
    ...{ id, source, reason, mediaType, address },
    receivedAt: isoTime(receivedAt),
    bytes: body.length,
    method,
    url: origin + shownPath(delivery),
    headers: shownHeaders(delivery),
    ...payloadJson(body),
  };
}

export const shown = reading({
  path: "held/one",
  scope: "events:read",
  summary:
    "Shows the held delivery of `?id=`, without values of headers that may be secrets, and which checks it passes as of its receipt.",
  input: v.object({
    id: v.pipe(v.string(), v.regex(/^[0-9]{1,15}$/, "must be a number"), v.transform(Number)),
  }),
  output: v.object({
    ...ShownHeldItem.entries,
    explanation: v.pipe(v.nullable(ExplanationAnswer), v.description("Null if its source is not configured.")),
  }),
  problems: ["encryption_key_missing"],
  async run(context: ServerContext, { id }) {
    const [delivery] = await context.stores.held.read([id]);
    if (!delivery) throw new AppError("not_found");
    const { origin, target, address, receivedAt } = delivery;
    const source = await sourceNamed(context, delivery.source);
    const arrival = {
      now: receivedAt,
      address: canonicalAddress(address) ?? undefined,
      sentTo: { origin, target },
    };
    const explanation = source ? await context.explain(source, rawRequestOf(delivery), arrival) : null;
    return { ...shownHeld(id, delivery), explanation };
  },
});

const sourceNamed = async ({ sources }: OperationContext, name: string) =>
  (await sources()).find((source) => source.name === name);

const ids = v.pipe(v.array(count), v.minLength(1, "must not be empty"), v.maxLength(500, "has over 500 ids"));

export const reverify = change({
  path: "held/reverify",
  scope: "events:write",
  summary: "Stores the held deliveries that the present secrets of their sources verify. Others stay held.",
  input: v.object({ ids, dryRun: v.optional(v.pipe(v.boolean(), v.description("Only counts them."))) }),
  output: v.object({
    matched: v.pipe(count, v.description("How many the present secrets verify.")),
    admitted: count,
    duplicates: count,
    refused: v.array(v.object({ id: count, reason: v.string() })),
  }),
  audited: {
    action: "held.reverify",
    asked: ({ ids, dryRun }) => (dryRun ? null : { deliveries: ids.length }),
    outcome: ({ admitted }) => ({ admitted }),
  },
  async run(context, { ids, dryRun = false }) {
    const { events, held } = context.stores;
    const total = { matched: 0, admitted: 0, duplicates: 0, refused: [] as { id: number; reason: string }[] };
    for await (const part of readInParts(held, ids)) {
      for (const [name, deliveries] of Map.groupBy(part, ({ source }) => source)) {
        const source = await sourceNamed(context, name);
        if (!source) {
          total.refused.push(...deliveries.map(({ id }) => ({ id, reason: "source_not_configured" })));
          continue;
        }
        const admitted = await admitHeld({ events, held }, deliveries, createReverify(source), dryRun);
        total.matched += admitted.genuine;
        total.admitted += admitted.admitted;
        total.duplicates += admitted.duplicates;
        total.refused.push(...admitted.refused);
      }
    }
    return total;
  },
});

export const remove = change({
  path: "held/remove",
  scope: "manage",
  summary: "Removes held deliveries for good.",
  input: v.object({ ids }),
  output: v.object({ removed: count }),
  audited: {
    action: "held.remove",
    asked: ({ ids }) => ({ deliveries: ids.length }),
    outcome: ({ removed }) => (removed === 0 ? null : { removed }),
  },
  async run({ stores: { held } }, { ids }) {
    let removed = 0;
    for await (const part of readInParts(held, ids)) {
      await held.remove(part.map(({ id }) => id));
      removed += part.length;
    }
    return { removed };
  },
});

const MAX_REQUEST = 1024 * 1024;

export const explain = change({
  path: "sources/explain",
  scope: "manage",
  summary:
    "Tells which checks of a source a raw HTTP request passes, and what the server would answer. Nothing is stored.",
  input: v.object({
    source: text,
    request: v.pipe(v.string(), v.nonEmpty("must not be empty"), v.maxLength(MAX_REQUEST, "is too long")),
    at: v.optional(time),
    url: v.optional(text),
  }),
  limitBytes: 2 * MAX_REQUEST,
  output: ExplanationAnswer,
  audited: null,
  async run(context: ServerContext, { source: name, request, at, url }) {
    const source = await sourceNamed(context, name);
    if (!source) throw fieldError("source", "is not configured");
    const raw = parseRawRequest(Buffer.from(request));
    if (typeof raw === "string") throw fieldError("request", raw);
    const sentTo = sentToOf(raw, url);
    if (sentTo === null) throw fieldError("url", "must be an http or https URL");
    return context.explain(source, raw, { now: at ?? context.stores.now(), address: undefined, sentTo });
  },
});
