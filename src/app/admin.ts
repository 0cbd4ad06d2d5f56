import {
  type AdminParts,
  alertsRoute,
  discardRoute,
  eventRoute,
  eventsRoute,
  jobsRoute,
  payloadRoute,
  replayRoute,
  sourcesRoute,
  statsRoute,
  statusRoute,
} from "../admin/routes.ts";
import {
  AlertsAnswer,
  DiscardBody,
  EventAnswer,
  EventQuery,
  EventsAnswer,
  EventsQuery,
  JobsAnswer,
  JobsQuery,
  PayloadAnswer,
  ReplayBody,
  SourcesAnswer,
  StatsAnswer,
  StatsQuery,
  StatusAnswer,
  TakenAnswer,
} from "../admin/schemas.ts";
import type { ErrorCode } from "../errors.ts";
import type { Route } from "../http/route.ts";

const ADMIN_PROBLEMS: ErrorCode[] = [
  "missing_token",
  "invalid_token",
  "session_invalidated",
  "not_found",
  "store_unavailable",
];
const QUERIED: ErrorCode[] = ["validation_failed", ...ADMIN_PROBLEMS];
const OF_ONE: ErrorCode[] = [...QUERIED, "ambiguous_event"];
const WITH_BODY: ErrorCode[] = [
  "malformed_json",
  "cross_site_request",
  "payload_too_large",
  "unsupported_media_type",
  ...QUERIED,
];

/** The API of the page, for the logged-in user. */
export function adminRoutes(admin: AdminParts): Route[] {
  return [
    {
      method: "GET",
      path: "/admin/api/status",
      summary: "Shows the server, the numbers of events in each status, and the routes.",
      isGuarded: true,
      response: StatusAnswer,
      problems: ADMIN_PROBLEMS,
      handler: statusRoute(admin),
      quiet: true,
    },
    {
      method: "GET",
      path: "/admin/api/events",
      summary:
        "Lists events, newest first. The query may have `status`, `type`, `source`, `since`, `until` (ISO 8601), `search` (a part of the payload), `error`, `limit` (50 by default, at most 500) and `cursor`. A search is limited in time: go on while `cursor` is not null.",
      isGuarded: true,
      query: EventsQuery,
      response: EventsAnswer,
      problems: QUERIED,
      handler: eventsRoute(admin),
      quiet: true,
    },
    {
      method: "GET",
      path: "/admin/api/events/:id",
      summary:
        "Shows an event with its jobs, attempts and conflicts. `?source=` chooses one of several sources that have the id. A payload above 1 MiB is null here.",
      isGuarded: true,
      query: EventQuery,
      response: EventAnswer,
      problems: OF_ONE,
      handler: eventRoute(admin),
      quiet: true,
    },
    {
      method: "GET",
      path: "/admin/api/events/:id/payload",
      summary: "Returns the bytes of a payload as a file.",
      isGuarded: true,
      query: EventQuery,
      response: PayloadAnswer,
      mediaTypes: { 200: "application/octet-stream" },
      problems: OF_ONE,
      handler: payloadRoute(admin),
      quiet: true,
    },
    {
      method: "POST",
      path: "/admin/api/events/replay",
      summary:
        "Queues the failed jobs of events again: by `ids` (with `source`), or of all that match `filter`, which has the names of the list's query. `dryRun` only counts. If `cursor` is not null, send the request again with it, to go on.",
      isGuarded: true,
      request: ReplayBody,
      response: TakenAnswer,
      problems: WITH_BODY,
      handler: replayRoute(admin),
    },
    {
      method: "POST",
      path: "/admin/api/events/discard",
      summary: "Discards the failed or queued jobs of events, selected as for a replay, with a `reason`.",
      isGuarded: true,
      request: DiscardBody,
      response: TakenAnswer,
      problems: WITH_BODY,
      handler: discardRoute(admin),
    },
    {
      method: "GET",
      path: "/admin/api/jobs",
      summary:
        "Lists the jobs that failed, or with `status=queued` those that wait, in the order of arrival of their events. A request compares a limited number of jobs: go on while `cursor` is not null.",
      isGuarded: true,
      query: JobsQuery,
      response: JobsAnswer,
      problems: QUERIED,
      handler: jobsRoute(admin),
      quiet: true,
    },
    {
      method: "GET",
      path: "/admin/api/stats",
      summary:
        "Counts deliveries and attempts by minute (kept for two days), hour (kept for 400 days) or day, in all and by source and route. `since` is a day before `until` by default. Latency is from receipt to the end of processing in milliseconds, estimated within a factor of two.",
      isGuarded: true,
      query: StatsQuery,
      response: StatsAnswer,
      problems: QUERIED,
      handler: statsRoute(admin),
      quiet: true,
    },
    {
      method: "GET",
      path: "/admin/api/alerts",
      summary: "Lists the alerts that fire or wait to fire, and those that were over in the last week.",
      isGuarded: true,
      response: AlertsAnswer,
      problems: ADMIN_PROBLEMS,
      handler: alertsRoute(admin),
      quiet: true,
    },
    {
      method: "GET",
      path: "/admin/api/sources",
      summary: "Lists the sources with what they have received and refused. Secrets are named, and not shown.",
      isGuarded: true,
      response: SourcesAnswer,
      problems: ADMIN_PROBLEMS,
      handler: sourcesRoute(admin),
      quiet: true,
    },
  ];
}
