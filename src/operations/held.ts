import * as v from "valibot";
import { AppError } from "../errors.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { type AdminGuard, changeEndpoint, queryEndpoint, readEndpoint } from "./endpoint.ts";
import { count, cursor, limit, listCursor, RouteVerdict, text, time, timestamp } from "./fields.ts";

/** What is done with deliveries that were refused for their signature. */
export interface HeldParts extends AdminGuard {
  readHeld: (filter: v.InferOutput<typeof HeldQuery>) => Promise<v.InferOutput<typeof HeldPage>>;
  readRefusals: () => v.InferOutput<typeof RefusalItem>[];
  held: {
    /** Null if there is none of this id. */
    show(id: number): Promise<v.InferOutput<typeof HeldAnswer> | null>;
    reverify(ids: readonly number[], dryRun: boolean): Promise<v.InferOutput<typeof ReverifiedAnswer>>;
    remove(ids: readonly number[]): Promise<v.InferOutput<typeof RemovedAnswer>>;
    /** Throws `validation_failed` if it is no request or the source is not known. */
    explain(request: v.InferOutput<typeof ExplainBody>): Promise<v.InferOutput<typeof ExplanationAnswer>>;
  };
}

/** The query of a list of held deliveries. */
const HeldQuery = v.object({
  source: v.optional(text),
  since: v.optional(time),
  limit: v.optional(limit, "50"),
  cursor: v.optional(listCursor),
});

const HeldItem = v.object({
  id: count,
  source: v.string(),
  reason: v.string(),
  mediaType: v.string(),
  address: v.string(),
  receivedAt: timestamp,
  bytes: count,
});

export const HeldPage = v.object({ items: v.array(HeldItem), cursor });

export const RefusalItem = v.object({
  receivedAt: timestamp,
  source: v.string(),
  reason: v.pipe(v.string(), v.description("An error code, or why there was that error.")),
  address: v.string(),
});

const RefusalsAnswer = v.object({ items: v.array(RefusalItem), cursor });

export const ExplanationAnswer = v.object({
  source: v.string(),
  genuine: v.pipe(v.boolean(), v.description("Whether signature and time are right.")),
  reason: v.nullable(v.string()),
  secret: v.nullable(v.string()),
  eventId: v.nullable(v.string()),
  type: v.nullable(v.string()),
  checks: v.array(v.object({ name: v.string(), ok: v.boolean(), detail: v.string() })),
  answer: v.object({ status: count, code: v.nullable(v.string()), reason: v.nullable(v.string()) }),
  handshake: v.nullable(v.string()),
  routes: v.array(RouteVerdict),
  verify: v.pipe(v.nullable(v.string()), v.description("A `verify` block that would accept its signature.")),
});

export const HeldAnswer = v.object({
  ...HeldItem.entries,
  method: v.string(),
  url: v.string(),
  headers: v.record(v.string(), v.string()),
  payload: v.string(),
  payloadBase64: v.optional(v.string()),
  explanation: v.pipe(v.nullable(ExplanationAnswer), v.description("Null if its source is not configured.")),
});

const ids = v.pipe(v.array(count), v.minLength(1, "must not be empty"), v.maxLength(500, "has over 500 ids"));
const IdsBody = v.object({ ids });
const ReverifyBody = v.object({
  ids,
  dryRun: v.optional(v.pipe(v.boolean(), v.description("Only counts them."))),
});
export const ReverifiedAnswer = v.object({
  matched: v.pipe(count, v.description("How many the present secrets verify.")),
  admitted: count,
  duplicates: count,
  refused: v.array(v.object({ id: count, reason: v.string() })),
});
export const RemovedAnswer = v.object({ removed: count });

const MAX_REQUEST = 1024 * 1024;
const ExplainBody = v.object({
  source: text,
  request: v.pipe(v.string(), v.nonEmpty("must not be empty"), v.maxLength(MAX_REQUEST, "is too long")),
  at: v.optional(time),
  url: v.optional(text),
});

const OneQuery = v.object({
  id: v.pipe(v.string(), v.regex(/^[0-9]{1,15}$/, "must be a number"), v.transform(Number)),
});

/** The deliveries that were refused for their signature, and why. */
export function heldEndpoints(parts: HeldParts): Endpoint[] {
  const { held, readHeld } = parts;
  return [
    queryEndpoint(parts, {
      path: "/admin/api/held",
      scope: "events:read",
      summary:
        "Lists deliveries that were refused for their signature, of sources with `keepRejected`, in order of arrival.",
      query: HeldQuery,
      response: HeldPage,
      read: readHeld,
    }),
    readEndpoint(parts, {
      path: "/admin/api/refusals",
      scope: "events:read",
      summary: "Lists the newest 100 deliveries that this server has refused since its start, the newest first.",
      response: RefusalsAnswer,
      read: async () => ({ items: parts.readRefusals(), cursor: null }),
    }),
    queryEndpoint(parts, {
      path: "/admin/api/held/one",
      scope: "events:read",
      summary:
        "Shows the held delivery of `?id=`, without values of headers that may be secrets, and which checks it passes as of its receipt.",
      query: OneQuery,
      response: HeldAnswer,
      problems: ["encryption_key_missing"],
      async read({ id }) {
        const found = await held.show(id);
        if (found === null) throw new AppError("not_found");
        return found;
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/held/reverify",
      scope: "events:write",
      summary: "Stores the held deliveries that the present secrets of their sources verify. Others stay held.",
      request: ReverifyBody,
      response: ReverifiedAnswer,
      audited: {
        action: "held.reverify",
        asked: ({ ids, dryRun }) => (dryRun ? null : { deliveries: ids.length }),
        outcome: ({ admitted }) => ({ admitted }),
      },
      change: ({ ids, dryRun = false }) => held.reverify(ids, dryRun),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/held/remove",
      scope: "session",
      summary: "Removes held deliveries for good.",
      request: IdsBody,
      response: RemovedAnswer,
      audited: {
        action: "held.remove",
        asked: ({ ids }) => ({ deliveries: ids.length }),
        outcome: ({ removed }) => (removed === 0 ? null : { removed }),
      },
      change: ({ ids }) => held.remove(ids),
    }),
    changeEndpoint(parts, {
      path: "/admin/api/sources/explain",
      scope: "session",
      summary:
        "Tells which checks of a source a raw HTTP request passes, and what the server would answer. Nothing is stored.",
      request: ExplainBody,
      limitBytes: 2 * MAX_REQUEST,
      response: ExplanationAnswer,
      audited: null,
      change: (request) => held.explain(request),
    }),
  ];
}
