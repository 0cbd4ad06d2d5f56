import { setTimeout as delay } from "node:timers/promises";
import * as v from "valibot";
import { auditedSelection } from "../audit/selection.ts";
import { fieldError } from "../errors.ts";
import type { Remains } from "../events/erasure.ts";
import { STATUSES } from "../events/event.ts";
import type { EventName } from "../events/store.ts";
import type { Untaken } from "../events/untaken.ts";
import { defined } from "../lib/defined.ts";
import { isoTime } from "../lib/iso-time.ts";
import { eraseHeld } from "../webhook/held/erase.ts";
import { CONDITIONS, count, cursor, listCursor, text, timestamp } from "./fields.ts";
import { change, type OperationContext } from "./operation.ts";
import { ids, reason, requireOneSelection, SELECTION_LIMIT } from "./selection.ts";

const EraseFilter = v.strictObject({
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(", ")}`)),
  ...CONDITIONS,
});

const ErasedItem = v.object({
  source: v.string(),
  eventId: v.string(),
  payloadSha256: v.string(),
  receivedAt: timestamp,
  erasedAt: v.pipe(v.nullable(timestamp), v.description("Null in a dry run.")),
  running: v.pipe(count, v.description("Attempts that are running. Nothing that they record is kept.")),
});

type Filter = v.InferOutput<typeof EraseFilter>;
type Erased = v.InferOutput<typeof ErasedItem>;

export const erase = change({
  path: "events/erase",
  scope: "events:erase",
  summary:
    "Erases the contents of events, selected by `ids` (with `source`) or by `filter`, which has the names of the list's query. The identity stays, so that a late delivery is a duplicate. The answer is the receipt. `dryRun` only finds them. If `cursor` is not null, send the request again with it, to go on.",
  input: v.object({
    filter: v.optional(EraseFilter),
    ids: v.optional(ids),
    source: v.optional(text),
    reason,
    dryRun: v.optional(v.boolean()),
    cursor: v.optional(v.pipe(listCursor, v.description("That of the answer before."))),
  }),
  limitBytes: SELECTION_LIMIT,
  output: v.object({
    matched: count,
    events: v.array(ErasedItem),
    held: v.pipe(
      v.array(v.object({ id: count, source: v.string(), receivedAt: timestamp, bodySha256: v.string() })),
      v.description("The held deliveries that were removed with them."),
    ),
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
  }),
  audited: {
    action: "events.erase",
    asked: ({ reason, dryRun, ...body }) => (dryRun ? null : { ...auditedSelection(body), reason }),
    outcome: ({ matched, held }) => ({ events: matched, held: held.length }),
  },
  async run(context, { ids, source, filter, reason, dryRun: isDryRun = false, cursor }) {
    requireOneSelection({ ids, source, filter });
    if (ids !== undefined && cursor !== undefined) throw fieldError("cursor", "cannot be used with ids");
    // An empty filter would take every event.
    if (filter && Object.values(filter).every((value) => value === undefined))
      throw fieldError("filter", "must have at least one member");
    const how = { reason, isDryRun };
    const { events, refused, next } =
      ids === undefined
        ? await eraseFiltered(context, filter ?? {}, { ...how, cursor })
        : await eraseNamed(context, ids, source, how);
    const { stores } = context;
    const held = await eraseHeld(stores.held, { events, ...searchIn(filter) }, isDryRun);
    return {
      matched: events.length,
      events,
      held: held.map(({ receivedAt, ...delivery }) => ({ ...delivery, receivedAt: isoTime(receivedAt) })),
      refused,
      remains: isDryRun ? null : await sweep(stores.events),
      missingKeys: filter?.search === undefined ? [] : await stores.encryption.missingKeys(),
      cursor: next,
    };
  },
});

interface How {
  reason: string;
  isDryRun: boolean;
}

/** Erases an event. Null if it was erased before. */
async function eraseOne({ stores: { events, now } }: OperationContext, event: EventName, { reason, isDryRun }: How) {
  const at = now();
  const erased = await events.erase(event, { reason, now: at, isDryRun });
  if (erased === null) return null;
  return { ...erased, receivedAt: isoTime(erased.receivedAt), erasedAt: isDryRun ? null : isoTime(at) };
}

async function eraseNamed(context: OperationContext, ids: readonly string[], source: string | undefined, how: How) {
  const events: Erased[] = [];
  const refused: { eventId: string; reason: Untaken }[] = [];
  for (const eventId of new Set(ids)) {
    const [event, ...others] = await eventsOfId(context, eventId, source);
    const erased = event && others.length === 0 ? await eraseOne(context, event, how) : null;
    if (erased !== null) events.push(erased);
    else if (others.length > 0) refused.push({ eventId, reason: "several sources have this id: name one" });
    else refused.push({ eventId, reason: event ? "is erased" : "there is no such event" });
  }
  return { events, refused, next: null };
}

// More sources than have one id.
const MOST_OF_AN_ID = 100;

/** The events with this id, one for each source that has it. Their contents are not read: their key may be missing. */
async function eventsOfId({ stores: { events } }: OperationContext, eventId: string, source: string | undefined) {
  const found = await events.startingWith(eventId, source, MOST_OF_AN_ID);
  return found.filter((event) => event.eventId === eventId);
}

/** A search returns as many events as fit into one page. */
const PAGE = 100;

async function eraseFiltered(
  context: OperationContext,
  filter: Filter,
  { cursor, ...how }: How & { cursor: string | undefined },
) {
  const mayGoOn = context.pace();
  const events: Erased[] = [];
  for (let before = cursor; ; ) {
    const { items, older } = await context.stores.events.list(defined({ ...filter, before, limit: PAGE }));
    for (const event of items) {
      const erased = await eraseOne(context, event, how);
      if (erased) events.push(erased);
    }
    if (older === null || !(await mayGoOn())) return { events, refused: [], next: older };
    before = older;
  }
}

/** Held deliveries have no type, status or error: with one of these only the bytes of erased events are looked for. */
function searchIn({ search: text, source, since, until, type, status, error }: Filter = {}) {
  const isOfEvents = type !== undefined || status !== undefined || error !== undefined;
  return text === undefined || isOfEvents ? {} : { search: { text, source, since, until } };
}

const SWEEPS = 20;
const SWEEP_AGAIN_MS = 50;

/** Removes what is erased from the files of the store. Tries again for a second while a reader needs the log. */
async function sweep(store: { sweep(): Promise<Remains | null> }): Promise<Remains | null> {
  for (let tries = 1; ; tries++) {
    const remains = await store.sweep();
    if (remains !== "write_ahead_log" || tries === SWEEPS) return remains;
    await delay(SWEEP_AGAIN_MS);
  }
}
