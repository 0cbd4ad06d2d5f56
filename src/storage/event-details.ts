import {
  type ConflictRow,
  type DetailAttempt,
  type DetailJob,
  type DetailRow,
  detailOf,
  type RepeatRow,
} from "../events/detail.ts";
import { LAST_CHARACTER, MAX_CONFLICT_BYTES, MAX_SHOWN_REPEATS } from "../events/limits.ts";
import type { EventDetail, EventName, EventStore } from "../events/store.ts";
import { orNull, type PayloadCodec, ROW, type RowContent } from "./payload-codec.ts";
import { type Query, type QueryPort, row, rows, Snapshot } from "./query.ts";

/** The events with an id, of one source, or of every source when it is null: event id, source. */
const GET = `
SELECT events.id, events.source, events.event_id AS "eventId", events.type, events.received_at AS "receivedAt",
  address, secret, headers, content_type AS "contentType", payload, erased_at AS "erasedAt",
  erasures.reason AS "eraseReason", encode(payload_sha256, 'hex') AS "payloadSha256",
  EXISTS (SELECT 1 FROM authserve.reroutes WHERE event = events.id) AS "isRerouted",
  EXISTS (SELECT 1 FROM authserve.unrouted WHERE event = events.id) AS "isPending"
FROM authserve.events JOIN authserve.contents ON contents.event = events.id
  LEFT JOIN authserve.erasures ON erasures.event = events.id
WHERE event_id = $1 AND ($2::text IS NULL OR source = $2) ORDER BY source`;

/** The events whose ids are from one text up to another, of one source, or of every one when it is null, and limit. */
const STARTING_WITH = `
SELECT event_id AS "eventId", source FROM authserve.events JOIN authserve.contents ON contents.event = events.id
WHERE event_id >= $1 AND event_id <= $2 AND ($3::text IS NULL OR source = $3) ORDER BY event_id LIMIT $4`;

const JOBS = `
SELECT job.route, job.status, job.attempts - job.probes AS attempts, job.probes, job.replays,
  job.attempts - job.attempts_before_replay AS "attemptsOfBudget", job.ordering_key AS "orderingKey",
  job.due_at AS "dueAt", job.lease_owner IS NOT NULL AS leased, job.ended_at AS "endedAt", job.last_error AS "lastError",
  failed_at AS "failedAt", dead_letters.reason AS "failReason", discarded_at AS "discardedAt",
  discards.reason AS "discardReason", paused_at AS "pausedAt", until_at AS "pausedUntil"
FROM authserve.jobs AS job LEFT JOIN authserve.dead_letters USING (event, route)
  LEFT JOIN authserve.discards USING (event, route) LEFT JOIN authserve.paused_routes USING (route)
WHERE job.event = $1 ORDER BY job.route`;

/** The first job in a line, with its event: route, ordering key. */
const FIRST_IN_LINE = `
SELECT source AS "earlierSource", event_id AS "earlierEventId", status AS "earlierStatus"
FROM authserve.jobs JOIN authserve.events ON id = event
WHERE event = (SELECT event FROM authserve.jobs WHERE route = $1 AND ordering_key = $2 AND in_line = true
  ORDER BY event LIMIT 1) AND route = $1`;

const HISTORY = `
SELECT route, attempt, started_at AS "startedAt", finished_at AS "finishedAt", outcome, error, response,
  response_status AS "responseStatus", is_probe AS "isProbe", replay, attempt_of_budget AS "attemptOfBudget"
FROM authserve.attempts WHERE event = $1 ORDER BY route, attempt`;

/** The conflicts of an event, oldest first. */
const CONFLICTS = `
SELECT encode(payload_sha256, 'hex') AS "payloadSha256", deliveries, first_at AS "firstAt", last_at AS "lastAt", address,
  length(payload) AS bytes
FROM authserve.conflicts WHERE event = $1 ORDER BY first_at, payload_sha256 LIMIT ${MAX_SHOWN_REPEATS}`;

/** What some conflicts of an event have: event, digests. */
const CONFLICT_CONTENTS = `
SELECT encode(payload_sha256, 'hex') AS "payloadSha256", headers AS text, payload AS bytes
FROM authserve.conflicts WHERE event = $1 AND encode(payload_sha256, 'hex') = ANY($2::text[])`;

const REPEATS = `
SELECT number, event_id AS "eventId", type, deliveries, first_at AS "firstAt", last_at AS "lastAt", address, headers,
  replayed_as AS "replayedAs"
FROM authserve.repeats WHERE event = $1 ORDER BY number LIMIT ${MAX_SHOWN_REPEATS}`;

export type DetailPort = Pick<EventStore, "get" | "startingWith">;

/** Reads events with all that belongs to them. */
export const eventDetails = (codec: PayloadCodec): QueryPort<DetailPort> => ({
  get: (eventId, source) => new Snapshot(readAll(codec, eventId, source ?? null)),
  startingWith: (prefix, source, limit) =>
    rows<EventName>(STARTING_WITH, prefix, prefix + LAST_CHARACTER, source ?? null, limit),
});

function* readAll(codec: PayloadCodec, eventId: string, source: string | null): Query<EventDetail[]> {
  const details: EventDetail[] = [];
  for (const { isPending, ...found } of yield* rows<DetailRow & { isPending: boolean | number }>(
    GET,
    eventId,
    source,
  )) {
    const { id } = found;
    const content = { text: found.headers, bytes: found.payload };
    const { text, bytes } = codec.open(ROW.contents(found.source, found.eventId), content);
    const jobs = isPending ? null : yield* readJobs(id);
    const history = yield* rows<DetailAttempt>(HISTORY, id);
    const conflicts = yield* readConflicts(codec, id);
    const repeats = yield* rows<RepeatRow>(REPEATS, id);
    details.push(
      detailOf(
        { ...found, headers: text, payload: bytes },
        {
          jobs,
          history: history.map((ended) => ({ ...ended, response: openedResponse(codec, id, ended) })),
          conflicts,
          repeats: repeats.map((repeat) => ({ ...repeat, headers: openedHeaders(codec, id, repeat) })),
        },
      ),
    );
  }
  return details;
}

type EarlierJob = Pick<DetailJob, "earlierSource" | "earlierEventId" | "earlierStatus">;

const NONE_EARLIER: EarlierJob = { earlierSource: null, earlierEventId: null, earlierStatus: null };

/** The jobs of an event, each with the first one in the line that it waits in. */
function* readJobs(event: number): Query<DetailJob[]> {
  const jobs: DetailJob[] = [];
  for (const job of yield* rows<Omit<DetailJob, keyof EarlierJob>>(JOBS, event)) {
    const isWaiting = job.status === "queued" && job.dueAt === null;
    const earlier = isWaiting ? yield* row<EarlierJob>(FIRST_IN_LINE, job.route, job.orderingKey) : undefined;
    jobs.push({ ...job, ...(earlier ?? NONE_EARLIER) });
  }
  return jobs;
}

/** Oldest first. Payloads beyond the size limit are null. */
function* readConflicts(codec: PayloadCodec, event: number): Query<ConflictRow[]> {
  const conflicts = yield* rows<Omit<ConflictRow, "payload"> & { bytes: number }>(CONFLICTS, event);
  if (conflicts.length === 0) return [];
  let total = 0;
  const fitting = conflicts.filter(({ bytes }) => {
    total += bytes;
    return total <= MAX_CONFLICT_BYTES + MAX_ADDED_BYTES;
  });
  const digests = fitting.map(({ payloadSha256 }) => payloadSha256);
  const contents = yield* rows<RowContent & { payloadSha256: string }>(CONFLICT_CONTENTS, event, digests);
  const contentOf = new Map(contents.map((content) => [content.payloadSha256, content]));
  let read = 0;
  return conflicts.map(({ bytes: _, ...conflict }) => {
    const content = contentOf.get(conflict.payloadSha256);
    const name = ROW.conflict(event, conflict.payloadSha256);
    const payload = (content && orNull(() => codec.open(name, content)))?.bytes ?? null;
    read += payload?.length ?? 0;
    return { ...conflict, payload: read > MAX_CONFLICT_BYTES ? null : payload };
  });
}

/** What encryption may add to the payloads of conflicts: their headers, and a few bytes. */
const MAX_ADDED_BYTES = 1024 * 1024;

/** What a target answered to an attempt; null if it said nothing, or the key is missing. */
function openedResponse(
  codec: PayloadCodec,
  event: number,
  { route, attempt, response }: DetailAttempt,
): string | null {
  return response === null ? null : orNull(() => codec.openText(ROW.response(event, route, attempt), response));
}

/** The headers of a repeat as JSON; none if the key is missing. */
function openedHeaders(codec: PayloadCodec, event: number, { eventId, headers }: RepeatRow): string {
  return orNull(() => codec.openText(ROW.repeat(event, eventId), headers)) ?? "{}";
}
