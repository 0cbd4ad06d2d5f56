import * as v from "valibot";
import { STEPS } from "../events/chart.ts";
import { STATUSES } from "../events/event.ts";
import { parseIsoTime } from "../lib/iso-time.ts";

// The requests and answers of `/admin/api`. Texts of errors name what a value must be.

const text = v.pipe(v.string(), v.nonEmpty("must not be empty"), v.maxLength(1000, "is too long"));
const time = v.pipe(
  v.string(),
  v.rawTransform(({ dataset, addIssue, NEVER }) => {
    const parsed = parseIsoTime(dataset.value);
    if (parsed !== null) return parsed;
    addIssue({ message: "must be a time, e.g. 2026-01-31T12:00:00Z" });
    return NEVER;
  }),
  v.description("A time in ISO 8601, e.g. 2026-01-31T12:00:00Z."),
);
const count = v.pipe(v.number(), v.integer(), v.minValue(0));
const isoTime = v.pipe(v.string(), v.isoTimestamp());
const cursor = v.nullable(v.string());

const MAX_LIMIT = 500;
const limit = v.pipe(
  v.string(),
  v.regex(/^[0-9]{1,3}$/, "must be a whole number"),
  v.transform(Number),
  v.number(),
  v.integer(),
  v.minValue(1, "must be at least 1"),
  v.maxValue(MAX_LIMIT, `must be at most ${MAX_LIMIT}`),
);

const CONDITIONS_OF_JOBS = {
  type: v.optional(text),
  source: v.optional(text),
  since: v.optional(time),
  until: v.optional(time),
  error: v.optional(text),
};
const CONDITIONS = { ...CONDITIONS_OF_JOBS, search: v.optional(text) };
const bulkCursor = v.pipe(v.string(), v.regex(/^[0-9]{1,15}(?:-[0-9]{1,15})?$/, "is not a cursor of this request"));

/** The query of a list of events. */
export const EventsQuery = v.object({
  status: v.optional(v.picklist(STATUSES, `must be one of ${STATUSES.join(", ")}`)),
  ...CONDITIONS,
  limit: v.optional(limit, "50"),
  cursor: v.optional(v.pipe(v.string(), v.regex(/^[0-9]{1,15}$/, "is not a cursor of this list"))),
});

export const EventQuery = v.object({
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
  receivedAt: isoTime,
  processedAt: v.nullable(isoTime),
  lastError: v.nullable(v.string()),
});

export const EventsAnswer = v.object({ items: v.array(EventItem), cursor });

const JobItem = v.object({
  route: v.string(),
  status: v.picklist([...STATUSES, "discarded"]),
  attempts: count,
  nextAttemptAt: v.nullable(isoTime),
  leased: v.boolean(),
  orderingKey: v.nullable(v.string()),
  lastError: v.nullable(v.string()),
  deadLetter: v.nullable(v.object({ failedAt: isoTime, reason: v.string() })),
  discarded: v.nullable(v.object({ discardedAt: isoTime, reason: v.string() })),
  history: v.array(
    v.object({
      attempt: count,
      startedAt: isoTime,
      finishedAt: isoTime,
      outcome: v.picklist(["succeeded", "failed", "lease_expired"]),
      error: v.nullable(v.string()),
      response: v.nullable(v.string()),
    }),
  ),
});

const ConflictItem = v.object({
  number: count,
  payloadSha256: v.string(),
  deliveries: count,
  firstAt: isoTime,
  lastAt: isoTime,
  address: v.string(),
  payload: v.nullable(v.string()),
});

const RepeatItem = v.object({
  number: count,
  eventId: v.string(),
  type: v.string(),
  deliveries: count,
  firstAt: isoTime,
  lastAt: isoTime,
  address: v.string(),
  headers: v.record(v.string(), v.string()),
  replayedAs: v.nullable(v.string()),
});

export const EventAnswer = v.object({
  ...EventItem.entries,
  address: v.string(),
  secret: v.string(),
  contentType: v.string(),
  headers: v.record(v.string(), v.string()),
  /** Why the payload is not what its media type says. */
  malformed: v.nullable(v.string()),
  jobs: v.array(JobItem),
  conflicts: v.array(ConflictItem),
  repeats: v.array(RepeatItem),
  /** Null if it is larger than 1 MiB. */
  payload: v.nullable(v.string()),
});

export const PayloadAnswer = v.string();

export const SourceItem = v.object({
  name: v.string(),
  path: v.string(),
  preset: v.nullable(v.string()),
  secrets: v.array(v.string()),
  received: count,
  refused: count,
  refusals: v.pipe(v.record(v.string(), count), v.description("The refused by their reason, the most frequent first.")),
  lastReceivedAt: v.nullable(isoTime),
  lastSecret: v.nullable(v.string()),
  secretUses: v.array(v.object({ name: v.string(), firstUsedAt: isoTime, lastUsedAt: isoTime })),
  expectEvery: v.pipe(v.nullable(count), v.description("Milliseconds.")),
  silent: v.pipe(v.boolean(), v.description("Whether nothing came for longer than `expectEvery`.")),
});

export const SourcesAnswer = v.object({ items: v.array(SourceItem), cursor });

/** The query of a list of jobs. */
export const JobsQuery = v.object({
  status: v.optional(v.picklist(["failed", "queued"], "must be failed or queued"), "failed"),
  route: v.optional(text),
  ...CONDITIONS_OF_JOBS,
  limit: v.optional(limit, "50"),
  cursor: v.optional(bulkCursor),
});

export const JobsAnswer = v.object({
  items: v.array(
    v.object({
      source: v.string(),
      eventId: v.string(),
      type: v.string(),
      receivedAt: isoTime,
      ...v.omit(JobItem, ["discarded", "history"]).entries,
    }),
  ),
  cursor,
});

/** The query of groups of dead letters. */
export const ErrorsQuery = v.object({ cursor: v.optional(bulkCursor) });

export const ErrorsAnswer = v.object({
  items: v.array(
    v.object({
      route: v.string(),
      error: v.string(),
      count,
      oldestAt: isoTime,
      newestAt: isoTime,
      eventId: v.string(),
      source: v.string(),
    }),
  ),
  cursor,
});

/** The query of statistics. */
export const StatsQuery = v.object({
  since: v.optional(time),
  until: v.optional(time),
  step: v.optional(v.picklist(STEPS, `must be one of ${STEPS.join(", ")}`)),
  source: v.optional(text),
  route: v.optional(text),
});

const COUNTS = {
  received: count,
  duplicate: count,
  conflict: count,
  repeat: count,
  refused: count,
  unrouted: count,
  processed: count,
  retried: count,
  deadLettered: count,
};
const latency = v.nullable(v.object({ p50: count, p95: count, p99: count }));

export const StatsAnswer = v.object({
  since: isoTime,
  until: isoTime,
  step: v.picklist(STEPS),
  items: v.array(v.object({ at: isoTime, ...COUNTS, latency })),
  total: v.object({ ...COUNTS, latency }),
  sums: v.array(v.object({ source: v.string(), route: v.string(), ...COUNTS })),
});

/** The query of a list of held deliveries. */
export const HeldQuery = v.object({
  source: v.optional(text),
  since: v.optional(time),
  limit: v.optional(limit, "50"),
  cursor: v.optional(v.pipe(v.string(), v.regex(/^[0-9]{1,15}$/, "is not a cursor of this list"))),
});

export const HeldAnswer = v.object({
  items: v.array(
    v.object({
      id: count,
      source: v.string(),
      reason: v.string(),
      mediaType: v.string(),
      address: v.string(),
      receivedAt: isoTime,
      bytes: count,
    }),
  ),
  cursor,
});

export const AlertItem = v.object({
  id: v.string(),
  name: v.string(),
  state: v.picklist(["pending", "firing", "resolved"]),
  severity: v.picklist(["info", "warning", "critical"]),
  labels: v.record(v.string(), v.string()),
  summary: v.string(),
  remedy: v.string(),
  since: isoTime,
  startsAt: v.nullable(isoTime),
  endsAt: v.nullable(isoTime),
  silencedUntil: v.nullable(isoTime),
});

export const AlertsAnswer = v.object({ items: v.array(AlertItem), cursor });

export const StatusAnswer = v.object({
  version: v.string(),
  startedAt: isoTime,
  store: v.picklist(["sqlite", "postgres"]),
  nodes: v.pipe(count, v.description("The live servers on this database.")),
  disk: v.object({
    freeBytes: v.pipe(v.nullable(count), v.description("Null if it is unknown or has no limit.")),
    minFreeBytes: v.nullable(count),
  }),
  /** Why deliveries are refused now; null if they are taken. */
  paused: v.nullable(v.string()),
  events: v.object({
    queued: count,
    processed: count,
    failed: count,
    unrouted: count,
    conflicts: count,
    unreadable: count,
    oldestQueuedAt: v.nullable(isoTime),
    ids: count,
    bytes: count,
  }),
  routes: v.array(
    v.object({
      name: v.string(),
      configured: v.boolean(),
      handler: v.nullable(v.picklist(["http", "exec", "module", "log"])),
      target: v.nullable(v.string()),
      queued: count,
      processed: count,
      failed: count,
      discarded: count,
      pausedAt: v.nullable(isoTime),
      available: v.boolean(),
    }),
  ),
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
  cursor: v.optional(bulkCursor),
};

export const ReplayBody = v.object(FILTERED);
export const DiscardBody = v.object({ ...FILTERED, reason: v.pipe(text, v.trim(), v.nonEmpty("must not be empty")) });

export const TakenAnswer = v.object({
  matched: count,
  refused: v.array(v.object({ eventId: v.string(), reason: v.string() })),
  cursor,
});

export const RouteBody = v.object({ route: text });
export const ChangedAnswer = v.object({ changed: v.boolean() });

const LONGEST_SILENCE_MS = 365 * 86_400_000;

export const SilenceBody = v.object({
  name: v.optional(v.pipe(text, v.description("Default: every alert."))),
  labels: v.optional(v.record(v.string(), text)),
  reason: v.optional(text),
  forMs: v.pipe(
    v.number("must be a number"),
    v.integer("must be a whole number"),
    v.minValue(1, "must be above 0"),
    v.maxValue(LONGEST_SILENCE_MS, "must be at most a year"),
    v.description("Milliseconds."),
  ),
});
export const SilencedAnswer = v.object({ until: isoTime });
export const UnsilenceBody = v.object({ name: v.optional(v.pipe(text, v.description("Default: all."))) });
export const UnsilencedAnswer = v.object({ removed: count });

export const SessionAnswer = v.object({
  userId: v.string(),
  email: v.string(),
  sid: v.nullable(v.string()),
  network: v.nullable(v.string()),
  userAgent: v.nullable(v.string()),
  expiresAt: v.nullable(isoTime),
});
export const NoMembers = v.object({});
export const RevokedAnswer = v.object({ revoked: v.boolean() });
