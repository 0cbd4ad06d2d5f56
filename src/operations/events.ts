import * as v from "valibot";
import { AppError } from "../errors.ts";
import { isKeptFromRoutes } from "../events/captured.ts";
import { STATUSES } from "../events/event.ts";
import { detailJson, payloadJson, summaryJson } from "../events/json.ts";
import type { EventDetail } from "../events/store.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { readQuery } from "../http/fields.ts";
import { defined } from "../lib/defined.ts";
import { openStored } from "../webhook/content/stored-content.ts";
import { explainRouting } from "../worker/routing.ts";
import { type AdminGuard, guardedGet } from "./endpoint.ts";
import { CONDITIONS, count, cursor, limit, listCursor, RouteVerdict, text, timestamp } from "./fields.ts";
import { JobItem } from "./jobs.ts";
import { type OperationContext, reading } from "./operation.ts";

const EventItem = v.object({
  source: v.string(),
  eventId: v.string(),
  type: v.string(),
  status: v.picklist(STATUSES),
  attempts: v.pipe(count, v.description("In all, also before a replay, of the job with the most.")),
  receivedAt: timestamp,
  processedAt: v.nullable(timestamp),
  lastError: v.nullable(v.string()),
});

const ListedItem = v.object({
  ...EventItem.entries,
  routes: v.pipe(v.array(v.string()), v.description("The routes that have taken it.")),
});

export const listed = reading({
  path: "events",
  scope: "events:read",
  summary:
    "Lists events, newest first. The query may have `status`, `type` (with `*` a list such as `invoice.*,!invoice.draft`), `source`, `since`, `until` (ISO 8601), `search` (a part of the id, type, payload, headers or an answer; those with exactly this id come first), `error`, `route`, `limit` (50 by default, at most 500) and `cursor`. A list with `search`, `route` or such a list of types is limited in time: go on while `cursor` is not null.",
  input: v.object({
    status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(", ")}`)),
    ...CONDITIONS,
    route: v.optional(
      v.pipe(
        text,
        v.description(
          "Only events with a job of this route. What is asked and answered of status, attempts and error is then of that job.",
        ),
      ),
    ),
    limit: v.optional(limit, "50"),
    cursor: v.optional(listCursor),
    after: v.optional(
      v.pipe(listCursor, v.description("`newer` of an earlier answer: only events stored since then.")),
    ),
  }),
  output: v.object({
    items: v.array(ListedItem),
    cursor,
    newer: v.pipe(v.string(), v.description("For `after`, to ask for the events that come later.")),
  }),
  async run({ stores: { events } }, { cursor: before, ...filter }) {
    const { items, older, newer } = await events.list(defined({ ...filter, before }));
    return { items: items.map((event) => ({ ...summaryJson(event), routes: event.routes })), cursor: older, newer };
  },
});

export const ids = reading({
  path: "event-ids",
  scope: "events:read",
  summary: "Lists the ids of events that begin with `prefix`, in the order of the ids, at most `limit`.",
  input: v.object({
    prefix: v.pipe(text, v.description("The beginning of the ids.")),
    source: v.optional(text),
    limit: v.optional(limit, "50"),
  }),
  output: v.object({ items: v.array(v.object({ source: v.string(), eventId: v.string() })), cursor }),
  run: async ({ stores: { events } }, { prefix, source, limit }) => ({
    items: await events.startingWith(prefix, source, limit),
    cursor: null,
  }),
});

/** Only there if the payload is not UTF-8. */
const payloadBase64 = v.optional(v.pipe(v.string(), v.description("The bytes of a payload that is not UTF-8.")));

const ConflictItem = v.object({
  number: count,
  payloadSha256: v.string(),
  deliveries: count,
  firstAt: timestamp,
  lastAt: timestamp,
  address: v.string(),
  payload: v.nullable(v.string()),
  payloadBase64,
});

const RepeatItem = v.object({
  number: count,
  eventId: v.string(),
  type: v.string(),
  deliveries: count,
  firstAt: timestamp,
  lastAt: timestamp,
  address: v.string(),
  headers: v.record(v.string(), v.string()),
  replayedAs: v.nullable(v.string()),
});

const EventAnswer = v.object({
  ...EventItem.entries,
  address: v.string(),
  origin: v.pipe(v.picklist(["delivery", "api"]), v.description("`api`: from the provider's API, signed by nobody.")),
  secret: v.string(),
  contentType: v.string(),
  headers: v.record(v.string(), v.string()),
  /** Why the payload is not what its media type says. */
  malformed: v.nullable(v.string()),
  erased: v.pipe(
    v.nullable(v.object({ erasedAt: timestamp, reason: v.string(), payloadSha256: v.string() })),
    v.description("When and why the content was erased; null if it was not."),
  ),
  jobs: v.array(JobItem),
  conflicts: v.array(ConflictItem),
  repeats: v.array(RepeatItem),
  routes: v.array(RouteVerdict),
  /** Null if it is larger than 1 MiB. */
  payload: v.nullable(v.string()),
  payloadBase64,
});

const EventQuery = v.object({
  source: v.optional(text),
  id: v.optional(
    v.pipe(
      text,
      v.description("The id of the event, instead of that in the path: no path can have the ids `.` and `..`."),
    ),
  ),
});

// A larger payload would hang the page. It can be downloaded.
const MAX_SHOWN_BYTES = 1024 * 1024;

export const shown = reading({
  path: "events/:id",
  scope: "events:read",
  summary:
    "Shows an event with its jobs, attempts, conflicts and repeats, and why each of the present routes would take it or not. `?source=` chooses one of several sources that have the id. With `?id=` any text stands in the path: no path can have the ids `.` and `..`, and a proxy may decode a slash. A payload above 1 MiB is null here.",
  input: EventQuery,
  output: EventAnswer,
  problems: ["ambiguous_event", "encryption_key_missing"],
  async run(context, query) {
    const { stores, routes, sources } = context;
    const event = await findEvent(context, query);
    const now = stores.now();
    const unavailable = await stores.events.unavailableRoutes(now);
    const present = await routes();
    const attemptsOf = (name: string) => present.find((route) => route.name === name)?.retry.attempts ?? null;
    const takesNone = isKeptFromRoutes(event, await sources());
    const isShown = event.payload.length <= MAX_SHOWN_BYTES;
    return {
      ...detailJson(event, { unavailable, attemptsOf, now }),
      routes: event.erased === null ? explainRouting(present, event, openStored(event), { takesNone }) : [],
      ...(isShown ? payloadJson(event.payload) : { payload: null }),
    };
  },
});

/** The event with this id. Throws `not_found`, and `ambiguous_event` if several sources have the id. */
export async function findEvent(
  { stores: { events } }: Pick<OperationContext, "stores">,
  { id = "", source }: v.InferOutput<typeof EventQuery>,
): Promise<EventDetail> {
  const [event, ...others] = await events.get(id, source);
  if (!event) throw new AppError("not_found");
  if (others.length === 0) return event;
  const sources = [event, ...others].map((one) => one.source).join(", ");
  throw new AppError("ambiguous_event", { errors: [{ path: "source", message: `is needed: one of ${sources}` }] });
}

/** The endpoint of the bytes of a payload. */
export function payloadEndpoint(guard: AdminGuard, context: Pick<OperationContext, "stores">): Endpoint {
  return guardedGet(guard, {
    path: "/admin/api/events/:id/payload",
    scope: "events:read",
    summary: "Returns the bytes of a payload as a file.",
    query: EventQuery,
    response: v.string(),
    mediaTypes: { 200: "application/octet-stream" },
    problems: ["ambiguous_event", "event_erased", "encryption_key_missing"],
    async handler({ request, params }) {
      const event = await findEvent(context, { ...params, ...readQuery(request, EventQuery) });
      if (event.erased !== null) throw new AppError("event_erased");
      // Not the sender's media type: a browser must never show it as a page of ours.
      const headers = {
        "Content-Type": "application/octet-stream",
        "Content-Disposition": 'attachment; filename="payload"',
      };
      return { status: 200, body: event.payload, headers };
    },
  });
}
