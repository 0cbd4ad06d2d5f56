import * as v from "valibot";
import { auditedSelection } from "../audit/selection.ts";
import { givenReason } from "../events/actions.ts";
import { type EraseOptions, type EraseReceipt, eraseNamed, erasePage, eventsOfId, sweep } from "../events/erase.ts";
import { STATUSES } from "../events/event.ts";
import type { EventStore } from "../events/store.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { defined } from "../lib/defined.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type AdminGuard, changeEndpoint } from "./endpoint.ts";
import { CONDITIONS, count, cursor, fieldError, listCursor, text, timestamp } from "./fields.ts";

export interface EraseParts extends AdminGuard {
  events: Pick<EventStore, "list" | "startingWith" | "erase" | "sweep">;
  /** The keys that the store has noted, and that this server does not have. */
  missingKeys(): Promise<string[]>;
  /** Removes the held deliveries that belong to erased events, or have the text of a search. */
  eraseHeld: (
    erased: { events: readonly EraseReceipt[]; search?: HeldSearch },
    isDryRun: boolean,
  ) => Promise<v.InferOutput<typeof HeldItem>[]>;
  now: () => number;
}

interface HeldSearch {
  text: string;
  source?: string | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

const EraseBody = v.object({
  filter: v.optional(
    v.strictObject({
      status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(", ")}`)),
      ...CONDITIONS,
    }),
  ),
  ids: v.optional(v.pipe(v.array(text), v.minLength(1, "must not be empty"), v.maxLength(1000, "has over 1000 ids"))),
  source: v.optional(text),
  reason: v.pipe(text, v.transform(givenReason), v.string("must not be empty or have U+0000")),
  dryRun: v.optional(v.boolean()),
  cursor: v.optional(v.pipe(listCursor, v.description("That of the answer before."))),
});

const HeldItem = v.object({ id: count, source: v.string(), receivedAt: timestamp, bodySha256: v.string() });

const ErasedAnswer = v.object({
  matched: count,
  events: v.array(
    v.object({
      source: v.string(),
      eventId: v.string(),
      payloadSha256: v.string(),
      receivedAt: timestamp,
      erasedAt: v.pipe(v.nullable(timestamp), v.description("Null in a dry run.")),
      running: v.pipe(count, v.description("Attempts that are running. Nothing that they record is kept.")),
    }),
  ),
  held: v.pipe(v.array(HeldItem), v.description("The held deliveries that were removed with them.")),
  refused: v.array(v.object({ eventId: v.string(), reason: v.string() })),
  remains: v.pipe(
    v.nullable(v.picklist(["write_ahead_log", "dead_rows"])),
    v.description(
      "Where the store may still have the bytes: in its write-ahead log for some time, or in dead rows of PostgreSQL until a vacuum.",
    ),
  ),
  missingKeys: v.pipe(
    v.array(v.string()),
    v.description("Keys that the server does not have: payloads that are encrypted with them were not searched."),
  ),
  cursor,
});

// A request ends after this time, and its sender continues with the cursor.
const BUDGET_MS = 5000;
/** Up to 1000 ids. */
const SELECTION_LIMIT = 256 * 1024;

/** The erasure of events. */
export function eraseEndpoints(parts: EraseParts): Endpoint[] {
  return [
    changeEndpoint(parts, {
      path: "/admin/api/events/erase",
      scope: "events:erase",
      summary:
        "Erases the contents of events, selected by `ids` (with `source`) or by `filter`, which has the names of the list's query. The identity stays, so that a late delivery is a duplicate. The answer is the receipt. `dryRun` only finds them. If `cursor` is not null, send the request again with it, to go on.",
      request: EraseBody,
      limitBytes: SELECTION_LIMIT,
      response: ErasedAnswer,
      audited: {
        action: "events.erase",
        asked: ({ reason, dryRun, ...body }) => (dryRun ? null : { ...auditedSelection(body), reason }),
        outcome: ({ matched, held }) => ({ events: matched, held: held.length }),
      },
      change: (body) => erase(parts, body),
    }),
  ];
}

async function erase(parts: EraseParts, body: v.InferOutput<typeof EraseBody>) {
  const { events, eraseHeld, now } = parts;
  const { ids, source, filter, reason, dryRun: isDryRun = false, cursor: from } = body;
  const how: EraseOptions = { reason, now, isDryRun };
  const { erased, refused, next } =
    filter === undefined
      ? { ...(await eraseIds(events, { ids, source, from }, how)), next: null }
      : await eraseFiltered(events, { ids, source, filter, from }, how);
  const held = await eraseHeld({ events: erased, ...(filter && searchIn(filter)) }, isDryRun);
  return {
    matched: erased.length,
    events: erased.map(({ receivedAt, erasedAt, ...event }) => ({
      ...event,
      receivedAt: isoTime(receivedAt),
      erasedAt: isoTime(erasedAt),
    })),
    held,
    refused,
    remains: isDryRun || erased.length + held.length === 0 ? null : await sweep(events),
    missingKeys: filter?.search === undefined ? [] : await parts.missingKeys(),
    cursor: next,
  };
}

interface Selected extends Pick<v.InferOutput<typeof EraseBody>, "ids" | "source"> {
  from: string | undefined;
}

async function eraseIds(events: EraseParts["events"], { ids, source, from }: Selected, how: EraseOptions) {
  if (ids === undefined) throw fieldError("", "must have either ids or filter");
  if (from !== undefined) throw fieldError("cursor", "cannot be used with ids");
  const find = async (eventId: string) => {
    const [event, ...others] = await eventsOfId(events, eventId, source);
    if (others.length > 0) return "several sources have this id: name one";
    return event ?? "there is no such event";
  };
  return eraseNamed(events, ids, find, how);
}

async function eraseFiltered(
  events: EraseParts["events"],
  { ids, source, filter, from }: Selected & { filter: NonNullable<v.InferOutput<typeof EraseBody>["filter"]> },
  how: EraseOptions,
) {
  if (ids !== undefined) throw fieldError("", "must have either ids or filter");
  if (source !== undefined) throw fieldError("source", "cannot be used with filter: use filter.source");
  // An empty filter would take every event.
  if (Object.values(filter).every((value) => value === undefined))
    throw fieldError("filter", "must have at least one member");
  const deadline = performance.now() + BUDGET_MS;
  const erased: EraseReceipt[] = [];
  for (let cursor = from; ; ) {
    const page = await erasePage(events, defined(filter), { ...how, cursor });
    erased.push(...page.erased);
    if (page.next === null || performance.now() >= deadline) return { erased, refused: [], next: page.next };
    cursor = page.next;
  }
}

/** Held deliveries have no type, status or error. */
function searchIn({
  search: text,
  source,
  since,
  until,
  type,
  status,
  error,
}: v.InferOutput<typeof EraseBody>["filter"] & object) {
  if (text === undefined || type !== undefined || status !== undefined || error !== undefined) return {};
  return { search: { text, source, since, until } };
}
