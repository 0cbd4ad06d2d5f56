import * as v from "valibot";
import { auditedSelection } from "../audit/selection.ts";
import { AppError } from "../errors.ts";
import { type Action, discarding, givenReason, replaying, rerouting, takeNamed } from "../events/actions.ts";
import { JOB_CURSOR, LIST_CURSOR } from "../events/cursors.ts";
import { STATUSES } from "../events/event.ts";
import { detailJson, payloadJson, type Surroundings, summaryJson } from "../events/json.ts";
import { EVENTS_PER_PAGE } from "../events/limits.ts";
import type { EventDetail, EventStore } from "../events/store.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { readQuery } from "../http/fields.ts";
import { defined } from "../lib/defined.ts";
import { type BulkResult, findEvent, takeFiltered } from "./bulk.ts";
import { type AdminGuard, changeEndpoint, guardedGet, queryEndpoint } from "./endpoint.ts";
import { CONDITIONS, count, cursor, fieldError, limit, listCursor, RouteVerdict, text, timestamp } from "./fields.ts";
import { JobItem } from "./jobs.ts";

export interface EventParts extends AdminGuard {
  /** What the present routes say of an event. */
  explainRoutes: (event: EventDetail) => v.InferOutput<typeof RouteVerdict>[];
  /** The attempts that a route allows. Null if it is not configured. */
  attemptsOf: Surroundings["attemptsOf"];
  events: Pick<
    EventStore,
    | "unavailableRoutes"
    | "list"
    | "get"
    | "startingWith"
    | "count"
    | "replay"
    | "replayAll"
    | "reroute"
    | "forgetSentBodies"
    | "discard"
    | "discardAll"
  >;
  now: () => number;
}

/** The query of a list of events. */
const EventsQuery = v.object({
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
  after: v.optional(v.pipe(listCursor, v.description("`newer` of an earlier answer: only events stored since then."))),
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

const EventItem = v.object({
  source: v.string(),
  eventId: v.string(),
  type: v.string(),
  status: v.picklist(STATUSES),
  attempts: count,
  receivedAt: timestamp,
  processedAt: v.nullable(timestamp),
  lastError: v.nullable(v.string()),
});

const ListedItem = v.object({
  ...EventItem.entries,
  routes: v.pipe(v.array(v.string()), v.description("The routes that have taken it.")),
});

export const EventsAnswer = v.object({
  items: v.array(ListedItem),
  cursor,
  newer: v.pipe(v.string(), v.description("For `after`, to ask for the events that come later.")),
});

const EventIdsQuery = v.object({
  prefix: v.pipe(text, v.description("The beginning of the ids.")),
  source: v.optional(text),
  limit: v.optional(limit, "50"),
});
const EventIdsAnswer = v.object({ items: v.array(v.object({ source: v.string(), eventId: v.string() })), cursor });

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

export const EventAnswer = v.object({
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

const FILTERED = {
  filter: v.optional(
    v.strictObject({
      status: v.optional(v.picklist(["failed", "queued"], "must be failed or queued")),
      ...CONDITIONS,
      route: v.optional(text),
    }),
  ),
  ids: v.optional(v.pipe(v.array(text), v.minLength(1, "must not be empty"), v.maxLength(1000, "has over 1000 ids"))),
  source: v.optional(text),
  dryRun: v.optional(v.boolean()),
  cursor: v.optional(v.pipe(text, v.description("That of the answer before."))),
  limit: v.optional(
    v.pipe(
      count,
      v.minValue(1, "must be at least 1"),
      v.maxValue(EVENTS_PER_PAGE, `must be at most ${EVENTS_PER_PAGE}`),
      v.description("With `filter`: at most so many events for this request (default: as many as 5 seconds allow)."),
    ),
  ),
};

const ReplayBody = v.object({
  ...FILTERED,
  force: v.optional(
    v.pipe(v.boolean(), v.description("With `ids`: gives the events to all present routes, also what is processed.")),
  ),
  transform: v.optional(
    v.pipe(
      v.boolean(),
      v.description("Makes anew what the transformation of a route sends, instead of the same bytes."),
    ),
  ),
});
const reason = v.pipe(text, v.transform(givenReason), v.string("must not be empty or have U+0000"));
const DiscardBody = v.object({ ...FILTERED, reason });

export const TakenAnswer = v.object({
  matched: count,
  refused: v.array(v.object({ eventId: v.string(), reason: v.string() })),
  cursor,
});

// A larger payload would hang the page. It can be downloaded.
const MAX_SHOWN_BYTES = 1024 * 1024;

/** Up to 1000 ids. */
const SELECTION_LIMIT = 256 * 1024;

/** The events, and what is done to them. */
export function eventEndpoints(parts: EventParts): Endpoint[] {
  const { events, explainRoutes, attemptsOf, now } = parts;
  return [
    queryEndpoint(parts, {
      path: "/admin/api/events",
      scope: "events:read",
      summary:
        "Lists events, newest first. The query may have `status`, `type`, `source`, `since`, `until` (ISO 8601), `search` (a part of the payload), `error`, `route`, `limit` (50 by default, at most 500) and `cursor`. A list with `search` or `route` is limited in time: go on while `cursor` is not null.",
      query: EventsQuery,
      response: EventsAnswer,
      async read({ cursor: before, ...filter }) {
        const { items, older, newer } = await events.list(defined({ ...filter, before }));
        return { items: items.map((event) => ({ ...summaryJson(event), routes: event.routes })), cursor: older, newer };
      },
    }),
    queryEndpoint(parts, {
      path: "/admin/api/event-ids",
      scope: "events:read",
      summary: "Lists the ids of events that begin with `prefix`, in the order of the ids, at most `limit`.",
      query: EventIdsQuery,
      response: EventIdsAnswer,
      read: async ({ prefix, source, limit }) => ({
        items: await events.startingWith(prefix, source, limit),
        cursor: null,
      }),
    }),
    queryEndpoint(parts, {
      path: "/admin/api/events/:id",
      scope: "events:read",
      summary:
        "Shows an event with its jobs, attempts, conflicts and repeats, and why each of the present routes would take it or not. `?source=` chooses one of several sources that have the id. With `?id=` any text stands in the path: no path can have the ids `.` and `..`, and a proxy may decode a slash. A payload above 1 MiB is null here.",
      query: EventQuery,
      response: EventAnswer,
      problems: ["ambiguous_event", "encryption_key_missing"],
      async read({ id, source }, { params }) {
        const event = await findEvent(events, id ?? params.id ?? "", source);
        const isShown = event.payload.length <= MAX_SHOWN_BYTES;
        const around = { unavailable: await events.unavailableRoutes(now()), attemptsOf, now: now() };
        const routes = event.erased === null ? explainRoutes(event) : [];
        return { ...detailJson(event, around), routes, ...(isShown ? payloadJson(event.payload) : { payload: null }) };
      },
    }),
    guardedGet(parts, {
      path: "/admin/api/events/:id/payload",
      scope: "events:read",
      summary: "Returns the bytes of a payload as a file.",
      query: EventQuery,
      response: v.string(),
      mediaTypes: { 200: "application/octet-stream" },
      problems: ["ambiguous_event", "event_erased", "encryption_key_missing"],
      async handler({ request, params }) {
        const { id = params.id ?? "", source } = readQuery(request, EventQuery);
        const event = await findEvent(events, id, source);
        if (event.erased !== null) throw new AppError("event_erased");
        // Not the sender's media type: a browser must never show it as a page of ours.
        const headers = {
          "Content-Type": "application/octet-stream",
          "Content-Disposition": 'attachment; filename="payload"',
        };
        return { status: 200, body: event.payload, headers };
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/events/replay",
      scope: "events:write",
      summary:
        "Queues the failed jobs of events again: by `ids` (with `source`), or of all that match `filter`, which has the names of the list's query. `force` sends events again, whatever became of them. `dryRun` only counts. If `cursor` is not null, send the request again with it, to go on.",
      request: ReplayBody,
      limitBytes: SELECTION_LIMIT,
      response: TakenAnswer,
      audited: {
        action: "events.replay",
        asked: ({ force = false, dryRun, ...body }) => (dryRun ? null : { ...auditedSelection(body), force }),
        outcome: ({ matched }) => ({ events: matched }),
      },
      async change({ force = false, transform = false, ...body }) {
        if (force && body.filter !== undefined)
          throw fieldError("force", "cannot be used with filter: name the events in ids");
        if (body.filter?.status === "queued") throw fieldError("filter.status", "must be failed");
        return take(parts, (force ? rerouting : replaying)(events, now, transform), body);
      },
    }),
    changeEndpoint(parts, {
      path: "/admin/api/events/discard",
      scope: "events:write",
      summary: "Discards the failed or queued jobs of events, selected as for a replay, with a `reason`.",
      request: DiscardBody,
      limitBytes: SELECTION_LIMIT,
      response: TakenAnswer,
      audited: {
        action: "events.discard",
        asked: ({ reason, dryRun, ...body }) => (dryRun ? null : { ...auditedSelection(body), reason }),
        outcome: ({ matched }) => ({ events: matched }),
      },
      change: ({ reason, ...body }) => take(parts, discarding(events, reason, now), body),
    }),
  ];
}

/** Takes the events of a request, by id or by filter. */
async function take(
  { events }: EventParts,
  action: Action,
  {
    ids,
    source,
    filter,
    dryRun = false,
    cursor: from,
    limit,
  }: Omit<v.InferOutput<typeof ReplayBody>, "force" | "transform">,
): Promise<BulkResult> {
  if ((ids === undefined) === (filter === undefined)) throw fieldError("", "must have either ids or filter");
  if (ids === undefined) {
    const { status = "failed", search, route, ...conditions } = filter ?? {};
    if (source !== undefined) throw fieldError("source", "cannot be used with filter: use filter.source");
    if (search !== undefined && route !== undefined) throw fieldError("filter.route", "cannot be used with search");
    const form = search === undefined ? JOB_CURSOR : LIST_CURSOR;
    if (from !== undefined && !form.test(from)) throw fieldError("cursor", "is not a cursor of this request");
    const whole = defined({ status, search, route, ...conditions });
    return takeFiltered(events, action, { filter: whole, cursor: from, dryRun, limit });
  }
  const [surplus] = Object.entries({ dryRun: dryRun || undefined, cursor: from, limit }).filter(([, value]) => value);
  if (surplus) throw fieldError(surplus[0], "cannot be used with ids");
  const taken = await takeNamed(action, ids, async (eventId) => {
    const [event, ...others] = await events.get(eventId, source);
    return others.length > 0 ? "several sources have this id: name one" : (event ?? "there is no such event");
  });
  return { ...taken, cursor: null };
}
