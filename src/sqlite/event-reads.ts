import {
  type ConflictRow,
  type DetailAttempt,
  type DetailJob,
  type DetailRow,
  detailOf,
  type EventRow,
  type ListedJobRow,
  type RepeatRow,
} from "../events/detail.ts";
import { LAST_CHARACTER, MAX_CONFLICT_BYTES, MAX_SHOWN_REPEATS } from "../events/limits.ts";
import { matchesError } from "../events/matches-error.ts";
import { isSearched, JOBS_WINDOW, searchWindows, WINDOW } from "../events/search-window.ts";
import type { Backlog, EventDetail, EventFilter, EventName, EventPage, EventStore } from "../events/store.ts";
import { listPage } from "../events/summary.ts";
import { openedHeaders, openedResponse } from "../storage/opened-details.ts";
import { orNull, type PayloadCodec, PLAIN_CODEC, ROW, type RowContent } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { EVENT, ROUTED_TO, UNREADABLE, USED_BYTES } from "./events-sql.ts";
import * as lists from "./lists-sql.ts";

const JOB_IN_LIST = `
  route, status, attempts - probes AS attempts, ordering_key AS orderingKey, due_at AS dueAt,
  lease_owner IS NOT NULL AS leased, ended_at AS endedAt, last_error AS lastError`;

/** The first event in the line of a job that waits for its turn. */
const FIRST_IN_LINE = `
  CASE WHEN job.status = 'queued' AND job.due_at IS NULL THEN (
    SELECT event FROM jobs AS other WHERE other.route = +job.route AND other.ordering_key = +job.ordering_key
      AND other.in_line = 1 ORDER BY event LIMIT 1) END`;

/** Queries on stored events. Each reads one snapshot. */
type EventReads = SyncPort<Pick<EventStore, "list" | "get" | "startingWith" | "backlog">>;

/** Prepares the reads of a database. */
export function eventReads(database: Database, codec: PayloadCodec = PLAIN_CODEC): EventReads {
  database.function("opened_has", { deterministic: true }, openedHas(codec));
  database.function("matches_error", { deterministic: true }, (error: string | null, part: string) =>
    Number(matchesError(error, part)),
  );
  // An event before fan-out is queued.
  const backlog = database.prepare<unknown[], Backlog>(`
    SELECT queued + (SELECT coalesce(max(id), 0) FROM events) - routed_to AS queued,
      processed - discarded - unrouted AS processed, failed, discarded, unrouted, conflicts, (${UNREADABLE}) AS unreadable,
      (SELECT received_at FROM events WHERE id = coalesce(
        (SELECT min(event) FROM jobs WHERE status = 'queued' AND status <> 'processed'),
        (SELECT min(id) FROM events WHERE id > routed_to))) AS oldestQueuedAt,
      (SELECT coalesce(max(id), 0) FROM events) - removed AS ids,
      ${USED_BYTES} AS bytes
    FROM tally`);
  const startingWith = database.prepare<unknown[], EventName>(`
    SELECT event_id AS eventId, source FROM events JOIN contents ON contents.event = events.id
    WHERE event_id >= @prefix AND event_id <= @last AND (@source IS NULL OR source = @source)
    ORDER BY event_id LIMIT @limit`);
  const get = database.prepare<unknown[], DetailRow>(`
    SELECT ${EVENT}, address, secret, headers, content_type AS contentType, payload, erased_at AS erasedAt,
      erasures.reason AS eraseReason, lower(hex(payload_sha256)) AS payloadSha256,
      EXISTS (SELECT 1 FROM reroutes WHERE reroutes.event = events.id) AS isRerouted
    FROM events JOIN contents ON contents.event = events.id LEFT JOIN erasures ON erasures.event = events.id
    WHERE event_id = @eventId AND (@source IS NULL OR source = @source) ORDER BY source`);
  const jobs = database.prepare<[number], ListedJobRow>(
    `SELECT ${JOB_IN_LIST} FROM jobs WHERE event = ? ORDER BY route`,
  );
  const detail = details(database, codec);
  const routedTo = database.prepare(ROUTED_TO).pluck();

  const list = database.transaction((filter: EventFilter) => {
    const rows = (text: string, limit: number) => database.prepare<unknown[], EventRow>(text).all({ ...filter, limit });
    const mayBeQueued = filter.status === undefined || filter.status === "queued";
    const mayBePending = mayBeQueued && filter.error === undefined && filter.route === undefined;
    const pending = mayBePending ? rows(lists.listPendingStatement(filter), filter.limit) : [];
    const routed = rows(lists.listRoutedStatement(filter), filter.limit - pending.length);
    const events = [
      ...pending.map((row) => ({ ...row, jobs: null })),
      ...routed.map((row) => ({ ...row, jobs: jobs.all(row.id) })),
    ];
    return listPage(events, filter);
  });
  const getAll = database.transaction((eventId: string, source: string | undefined) => {
    const routed = routedTo.get() as number;
    return get.all({ eventId, source: source ?? null }).map((row) => {
      const content = { text: row.headers, bytes: row.payload };
      const { text, bytes } = codec.open(ROW.contents(row.source, row.eventId), content);
      return detail({ ...row, headers: text, payload: bytes }, row.id <= routed);
    });
  });

  const search = windowSearch(database, list);

  return {
    list: (filter) => (isSearched(filter) ? search(filter) : list(filter)),
    get: (eventId, source) => getAll(eventId, source),
    startingWith: (prefix, source, limit) =>
      startingWith.all({ prefix, last: prefix + LAST_CHARACTER, source: source ?? null, limit }),
    backlog: () => backlog.get() as Backlog,
  };
}

/** Lists events window by window. `list` lists those of a window. */
function windowSearch(database: Database, list: (filter: EventFilter) => EventPage) {
  const oldestListed = database.prepare<{ since: number | null }, number>(lists.OLDEST_LISTED).pluck();
  const newestEvent = database.prepare<[], number>("SELECT coalesce(max(id), 0) FROM events").pluck();

  const routedTo = database.prepare<[], number>(ROUTED_TO).pluck();

  return (filter: EventFilter): EventPage => {
    const oldest = oldestListed.get({ since: filter.since ?? null }) as number;
    const newest = (filter.route === undefined ? newestEvent : routedTo).get() as number;
    const size = filter.search === undefined ? JOBS_WINDOW : WINDOW;
    const windows = searchWindows(filter, { oldest, newest });
    let step = windows.next();
    while (!step.done) {
      const from = Math.max(step.value.oldest, step.value.before - size);
      step = windows.next({ from, page: list(step.value.filterFrom(from)) });
    }
    return step.value;
  };
}

/** Whether the payload of an encrypted row has a text. One whose key is missing has none. */
const openedHas =
  (codec: PayloadCodec) => (source: string, eventId: string, text: string, bytes: Uint8Array, search: string) => {
    const content = orNull(() => codec.open(ROW.contents(source, eventId), { text, bytes }));
    return content === null
      ? 0
      : Number(Buffer.from(content.bytes.buffer, content.bytes.byteOffset, content.bytes.length).includes(search));
  };

/** Prepares the reading of what belongs to an event. It has no jobs before fan-out. */
function details(database: Database, codec: PayloadCodec): (row: DetailRow, isRouted: boolean) => EventDetail {
  const jobs = database.prepare<[number], DetailJob>(`
    SELECT job.route, job.status, job.attempts - job.probes AS attempts, job.probes,
      job.attempts - job.attempts_before_replay AS attemptsOfBudget, job.ordering_key AS orderingKey,
      job.due_at AS dueAt, job.lease_owner IS NOT NULL AS leased, job.ended_at AS endedAt, job.last_error AS lastError,
      failed_at AS failedAt, dead_letters.reason AS failReason, discarded_at AS discardedAt,
      discards.reason AS discardReason, paused_at AS pausedAt, until_at AS pausedUntil,
      earlier.source AS earlierSource, earlier.event_id AS earlierEventId, first.status AS earlierStatus
    FROM jobs AS job LEFT JOIN dead_letters USING (event, route) LEFT JOIN discards USING (event, route)
      LEFT JOIN paused_routes USING (route) LEFT JOIN events AS earlier ON earlier.id = ${FIRST_IN_LINE}
      LEFT JOIN jobs AS first ON first.event = earlier.id AND first.route = job.route
    WHERE job.event = ? ORDER BY job.route`);
  const history = database.prepare<[number], DetailAttempt>(`
    SELECT route, attempt, started_at AS startedAt, finished_at AS finishedAt, outcome, error, response,
      response_status AS responseStatus, is_probe AS isProbe
    FROM attempts WHERE event = ? ORDER BY route, attempt`);
  const conflicts = database.prepare<[number], Omit<ConflictRow, "payload"> & { id: number }>(`
    SELECT rowid AS id, lower(hex(payload_sha256)) AS payloadSha256, deliveries, first_at AS firstAt, last_at AS lastAt,
      address
    FROM conflicts WHERE event = ? ORDER BY first_at, payload_sha256 LIMIT ${MAX_SHOWN_REPEATS}`);
  const repeats = database.prepare<[number], RepeatRow>(`
    SELECT number, event_id AS eventId, type, deliveries, first_at AS firstAt, last_at AS lastAt, address, headers,
      replayed_as AS replayedAs
    FROM repeats WHERE event = ? ORDER BY number LIMIT ${MAX_SHOWN_REPEATS}`);
  const conflictContent = database.prepare<[number], RowContent>(
    "SELECT headers AS text, payload AS bytes FROM conflicts WHERE rowid = ?",
  );

  /** Oldest first. Payloads beyond the size limit are null. */
  function conflictsOf(event: number): ConflictRow[] {
    let read = 0;
    return conflicts.all(event).map(({ id, ...conflict }) => {
      const row = read > MAX_CONFLICT_BYTES ? undefined : conflictContent.get(id);
      const name = ROW.conflict(event, conflict.payloadSha256);
      const payload = (row && orNull(() => codec.open(name, row)))?.bytes ?? null;
      read += payload?.length ?? 0;
      return { ...conflict, payload: read > MAX_CONFLICT_BYTES ? null : payload };
    });
  }

  return (row, isRouted) =>
    detailOf(row, {
      jobs: isRouted ? jobs.all(row.id) : null,
      history: history.all(row.id).map((ended) => ({ ...ended, response: openedResponse(codec, row.id, ended) })),
      conflicts: conflictsOf(row.id),
      repeats: repeats.all(row.id).map((repeat) => ({ ...repeat, headers: openedHeaders(codec, row.id, repeat) })),
    });
}
