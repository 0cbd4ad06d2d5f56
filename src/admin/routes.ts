import type { IncomingMessage } from "node:http";
import type { InferOutput } from "valibot";
import { AppError } from "../errors.ts";
import { chartRange, readChart } from "../events/chart.ts";
import { chartJson, detailJson, openJobJson, payloadText, summaryJson } from "../events/json.ts";
import type { EventStore } from "../events/store.ts";
import { readJson } from "../http/body.ts";
import { type ClientAccess, requireAllowedClient } from "../http/client-address.ts";
import { readQuery } from "../http/query.ts";
import { type Handler, reply } from "../http/route.ts";
import { defined } from "../lib/defined.ts";
import { isoTime } from "../lib/iso-time.ts";
import { type Action, type BulkResult, takeFiltered, takeNamed } from "./bulk.ts";
import { groupErrors } from "./error-groups.ts";
import { findEvent } from "./find-event.ts";
import {
  type AlertItem,
  DiscardBody,
  ErrorsQuery,
  EventQuery,
  EventsQuery,
  type HeldAnswer,
  HeldQuery,
  JobsQuery,
  ReplayBody,
  type SourceItem,
  StatsQuery,
  type StatusAnswer,
} from "./schemas.ts";

/** What the API of the page uses. */
export interface AdminParts {
  /** Throws unless the request has the live session. */
  authenticate: (request: IncomingMessage) => Promise<unknown>;
  events: Pick<
    EventStore,
    | "list"
    | "get"
    | "count"
    | "replay"
    | "replayAll"
    | "discard"
    | "discardAll"
    | "jobs"
    | "stats"
    | "pauseRoute"
    | "resumeRoute"
  >;
  readStatus: () => Promise<InferOutput<typeof StatusAnswer>>;
  readRoutes: () => Promise<InferOutput<typeof StatusAnswer>["routes"]>;
  readSources: () => Promise<InferOutput<typeof SourceItem>[]>;
  readHeld: (filter: InferOutput<typeof HeldQuery>) => Promise<InferOutput<typeof HeldAnswer>>;
  readAlerts: () => Promise<InferOutput<typeof AlertItem>[]>;
  alerts: {
    /** Returns false if there is no alert of this name. */
    silence(silence: NewSilence): Promise<boolean>;
    /** Returns the number of silences that have ended. Null: all. */
    unsilence(name: string | null): Promise<number>;
  };
  session: { userId: string; email: string; find(): Promise<SessionFound | null>; revoke(): Promise<boolean> };
  /** Null: from any address. */
  access: ClientAccess | null;
  now: () => number;
}

/** Keeps an alert, or with null every alert, from being sent. `until` is in Unix milliseconds. */
interface NewSilence {
  name: string | null;
  labels: Record<string, string>;
  reason: string | null;
  until: number;
}

interface SessionFound {
  sid: string;
  /** Unix milliseconds. */
  expiresAt: number;
  origin: { network: string; userAgent: string | null } | null;
}

const BODY_LIMIT = 256 * 1024;

/** Lets a handler run for the live session, from allowed addresses only. All others get 401 or 404. */
export function guarded({ authenticate, access }: AdminParts, handler: Handler): Handler {
  return async (context) => {
    const { request, address } = context;
    if (access !== null) requireAllowedClient(request, address, access);
    await authenticate(request);
    return handler(context);
  };
}

/** Answers `GET /admin/api/status`. */
export function statusRoute(parts: AdminParts): Handler {
  return guarded(parts, async () => reply(200, await parts.readStatus()));
}

/** Answers `GET /admin/api/sources`. */
export function sourcesRoute(parts: AdminParts): Handler {
  return guarded(parts, async () => reply(200, { items: await parts.readSources(), cursor: null }));
}

/** Answers `GET /admin/api/events`: a page of events, newest first. */
export function eventsRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => {
    const { cursor: before, ...filter } = readQuery(request, EventsQuery);
    const { items, older } = await parts.events.list(defined({ ...filter, before }));
    return reply(200, { items: items.map(summaryJson), cursor: older });
  });
}

/** Answers `GET /admin/api/jobs`: a page of jobs that failed or wait, the oldest first. */
export function jobsRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => {
    const { cursor, limit, ...filter } = readQuery(request, JobsQuery);
    const { items, next } = await parts.events.jobs(defined(filter), { cursor, limit });
    return reply(200, { items: items.map(openJobJson), cursor: next });
  });
}

/** Answers `GET /admin/api/jobs/errors`: the dead letters by route and error, the most frequent first. */
export function errorsRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => {
    const { groups, cursor } = await groupErrors(parts.events, readQuery(request, ErrorsQuery).cursor);
    const items = groups.map(({ oldestAt, newestAt, ...group }) => ({
      ...group,
      oldestAt: isoTime(oldestAt),
      newestAt: isoTime(newestAt),
    }));
    return reply(200, { items, cursor });
  });
}

/** Answers `GET /admin/api/stats`: what was counted over time. */
export function statsRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => {
    const query = readQuery(request, StatsQuery);
    const range = chartRange(query, parts.now());
    if ("fault" in range) throw fieldError(range.member, range.fault);
    const chart = await readChart(parts.events, range, query);
    return reply(200, {
      since: isoTime(range.since),
      until: isoTime(range.until),
      step: range.step,
      ...chartJson(chart),
    });
  });
}

/** Answers `GET /admin/api/held`: a page of deliveries that were refused for their signature, the oldest first. */
export function heldRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => reply(200, await parts.readHeld(readQuery(request, HeldQuery))));
}

/** Answers `GET /admin/api/alerts`: what fires or waits to fire, and what was over in the last week. */
export function alertsRoute(parts: AdminParts): Handler {
  return guarded(parts, async () => reply(200, { items: await parts.readAlerts(), cursor: null }));
}

// A larger payload would hang the page. It can be downloaded.
const MAX_SHOWN_BYTES = 1024 * 1024;

/** Answers `GET /admin/api/events/:id`. */
export function eventRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request, params }) => {
    const { id = params.id ?? "", source } = readQuery(request, EventQuery);
    const event = await findEvent(parts.events, id, source);
    const isShown = event.payload.length <= MAX_SHOWN_BYTES;
    return reply(200, { ...detailJson(event), payload: isShown ? payloadText(event.payload) : null });
  });
}

/** Answers `GET /admin/api/events/:id/payload`: the bytes, as a file. */
export function payloadRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request, params }) => {
    const { id = params.id ?? "", source } = readQuery(request, EventQuery);
    const event = await findEvent(parts.events, id, source);
    // Not the sender's media type: a browser must never show it as a page of ours.
    const headers = {
      "Content-Type": "application/octet-stream",
      "Content-Disposition": 'attachment; filename="payload"',
    };
    return { status: 200, body: payloadText(event.payload), headers };
  });
}

/** Answers `POST /admin/api/events/replay`: queues failed jobs again. */
export function replayRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => {
    const body = await readJson(request, ReplayBody, BODY_LIMIT);
    if (body.filter?.status === "queued") throw fieldError("filter.status", "must be failed");
    const action: Action = {
      one: (event) => parts.events.replay(event, parts.now()),
      page: (filter, page) => parts.events.replayAll(filter, parts.now(), page),
    };
    return reply(200, await take(parts, action, body));
  });
}

/** Answers `POST /admin/api/events/discard`: ends the jobs that failed or wait. */
export function discardRoute(parts: AdminParts): Handler {
  return guarded(parts, async ({ request }) => {
    const { reason, ...body } = await readJson(request, DiscardBody, BODY_LIMIT);
    const action: Action = {
      one: (event) => parts.events.discard(event, reason, parts.now()),
      page: (filter, page) => parts.events.discardAll(filter, reason, parts.now(), page),
    };
    return reply(200, await take(parts, action, body));
  });
}

/** Takes the events of a request, by id or by filter. */
function take(
  { events }: AdminParts,
  action: Action,
  { ids, source, filter, dryRun = false, cursor: from }: InferOutput<typeof ReplayBody>,
): Promise<BulkResult> {
  if ((ids === undefined) === (filter === undefined)) throw fieldError("", "must have either ids or filter");
  if (ids === undefined) {
    const { status = "failed", search, route, ...conditions } = filter ?? {};
    if (source !== undefined) throw fieldError("source", "is for ids: use filter.source");
    if (search !== undefined && route !== undefined) throw fieldError("filter.route", "cannot be used with search");
    const whole = defined({ status, search, route, ...conditions });
    return takeFiltered(events, action, { filter: whole, cursor: from, dryRun });
  }
  if (dryRun || from !== undefined) throw fieldError(dryRun ? "dryRun" : "cursor", "is for a filter");
  return takeNamed(events, action, ids, source);
}

const fieldError = (path: string, message: string) =>
  new AppError("validation_failed", { errors: [{ path, message }] });
