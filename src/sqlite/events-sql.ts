import { DIGEST_PREFIX } from "../events/event.ts";

// Statements of the hot path bind by position: binding by name costs as much as the write. `LIMIT +?` instead of `LIMIT
// ?`: SQLite plans a statement again each time a bare limit is bound. `= +@key`, for the same reason, where it compares
// a bound value with the condition of a partial index: 5 instead of 28 µs. SQLite uses a partial index only if the
// query repeats its condition (`status <> 'processed'`).

/**
 * Adds the identity of a delivery unless it is known: source, event id, type, received, size, digest of the payload.
 */
export const APPEND = `
INSERT INTO events (source, event_id, type, received_at, size, bytes_sha256) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`;

/** Adds the contents of an event: event, address, headers, content type, secret, CRC-32 of the payload, payload. */
export const ADD_CONTENTS = `
INSERT INTO contents (event, address, headers, content_type, secret, payload_crc32, payload) VALUES (?, ?, ?, ?, ?, ?, ?)`;

/** The event with an identity: event id, source. The payload is null once retention has removed it. */
export const STORED = `
SELECT id, bytes_sha256 AS bytesSha256, payload
FROM events LEFT JOIN contents ON contents.event = events.id WHERE event_id = ? AND source = ?`;

/** Whether an id is taken: event id, source. */
export const IS_TAKEN = `SELECT 1 FROM events WHERE event_id = ? AND source = ?`;

/** The event that has the digest of these bytes: digest, source. */
export const SAME_BYTES = `
SELECT id, event_id AS eventId, received_at AS receivedAt
FROM events WHERE bytes_sha256 = ? AND source = ? AND bytes_sha256 IS NOT NULL`;

/** Gives the digest of an event to a later one with the same bytes: event. */
export const FORGET_BYTES = `UPDATE events SET bytes_sha256 = NULL WHERE id = ?`;

/** Stores other bytes under a known identity once, and counts their deliveries. */
export const ADD_CONFLICT = `
INSERT INTO conflicts (event, payload_sha256, payload_crc32, payload, type, secret, content_type, headers, address, first_at,
  last_at, deliveries)
VALUES (@event, @payloadSha256, @payloadCrc32, @payload, @type, @secret, @contentType, @headers, @address, @receivedAt,
  @receivedAt, 1)
ON CONFLICT (event, payload_sha256) DO UPDATE SET last_at = max(last_at, excluded.last_at), deliveries = deliveries + 1`;

/**
 * Keeps another id under which the bytes of an event came, once, and counts its deliveries. Returns nothing if the
 * event is removed.
 */
export const ADD_REPEAT = `
INSERT INTO repeats (event, number, event_id, type, secret, content_type, headers, address, first_at, last_at, deliveries)
SELECT event, coalesce((SELECT max(number) FROM repeats WHERE event = @event), 0) + 1, @eventId, @type, @secret, @contentType,
  @headers, @address, @receivedAt, @receivedAt, 1
FROM contents WHERE event = @event
ON CONFLICT (event, event_id) DO UPDATE SET last_at = max(last_at, excluded.last_at), deliveries = deliveries + 1
RETURNING number, deliveries`;

/** Removes the oldest repeats of an event: event, the last number to remove. */
export const DROP_REPEATS = `DELETE FROM repeats WHERE event = ? AND number <= ?`;

/** Counts a conflicting delivery. */
export const COUNT_CONFLICT = `UPDATE tally SET conflicts = conflicts + 1`;

/** The events without jobs, in order of arrival: limit. */
export const UNROUTED = `
SELECT id, source, type, received_at AS receivedAt FROM events WHERE id > (SELECT routed_to FROM tally)
ORDER BY id LIMIT +?`;

/** The last event that fan-out has given its jobs. */
export const ROUTED_TO = `SELECT routed_to FROM tally`;

/** Adds a job: event, route, due. */
export const ADD_JOB = `INSERT INTO jobs (event, route, status, due_at) VALUES (?, ?, 'queued', ?)`;

/** Adds a job with an ordering key. It is due if no job of the key is before it. */
export const ADD_JOB_IN_LINE = `
INSERT INTO jobs (event, route, status, ordering_key, in_line, due_at)
VALUES (@event, @route, 'queued', @orderingKey, 1, CASE WHEN NOT EXISTS (
  SELECT 1 FROM jobs WHERE route = +@route AND ordering_key = +@orderingKey AND in_line = 1) THEN @dueAt END)`;

/** Gives the turn to the first job in the line of an ordering key, unless it failed or another job has the turn. */
export const PROMOTE = `
UPDATE jobs SET due_at = @now
WHERE event = (
    SELECT event FROM jobs WHERE route = +@route AND ordering_key = +@orderingKey AND in_line = 1 ORDER BY event LIMIT 1)
  AND route = @route AND status = 'queued' AND NOT EXISTS (
    SELECT 1 FROM jobs WHERE route = +@route AND ordering_key = +@orderingKey AND due_at IS NOT NULL)`;

/** What the end of an attempt needs of its job: event, route. A `RETURNING` instead would build a temporary table. */
export const ENDED = `SELECT ordering_key AS orderingKey, is_replay AS isReplay FROM jobs WHERE event = ? AND route = ?`;

/** Lets the dead letters of a route keep no jobs waiting. Returns their ordering keys. */
export const UNBLOCK = `
UPDATE jobs SET in_line = 0 WHERE route = ? AND in_line = 1 AND status = 'failed' RETURNING ordering_key AS orderingKey`;

/** Adds the events of a fan-out to the indexes for lists: after this event, up to this one. */
export const INDEX_ROUTED = ["type", "source"].map(
  (column) =>
    `INSERT INTO events_by_${column} (${column}, event) SELECT ${column}, id FROM events WHERE id > ? AND id <= ?`,
);

/** Adds the events of a fan-out to the index by minute: after this event, up to this one. */
export const INDEX_MINUTES = `
INSERT INTO events_by_minute (minute, first_event)
SELECT received_at / 60000 AS minute, min(id) FROM events WHERE id > ? AND id <= ? GROUP BY minute
ON CONFLICT DO NOTHING`;

/** Counts the events of a fan-out. An unrouted event is processed. */
export const TALLY_ROUTED = `
UPDATE tally SET routed_to = @upTo, queued = queued + @queued, unrouted = unrouted + @unrouted,
  processed = processed + @unrouted, processed_bytes = processed_bytes + @unroutedBytes`;

/** What counts need of an event: event. */
export const ORIGIN = `SELECT source, received_at AS receivedAt, size FROM events WHERE id = ?`;

/** The unrouted events of a fan-out: after this event, up to this one. */
export const ORIGINS_OF_UNROUTED = `
SELECT source, received_at AS receivedAt, size FROM events
WHERE id > ? AND id <= ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.event = events.id)`;

/**
 * Counts moves between statuses, as differences: queued, processed, failed, bytes of processed and of failed events.
 */
export const TALLY_MOVED = `
UPDATE tally SET queued = queued + ?, processed = processed + ?, failed = failed + ?,
  processed_bytes = processed_bytes + ?, failed_bytes = failed_bytes + ?`;

/** Counts moves of a route's jobs, as differences: route, queued, processed, failed, discarded. */
export const TALLY_JOBS = `
INSERT INTO route_tally (route, queued, processed, failed, discarded) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (route) DO UPDATE SET queued = queued + excluded.queued, processed = processed + excluded.processed,
  failed = failed + excluded.failed, discarded = discarded + excluded.discarded`;

/** The routes that have jobs or are paused. */
export const ROUTES = `
SELECT route, coalesce(queued, 0) AS queued, coalesce(processed, 0) AS processed, coalesce(failed, 0) AS failed,
  coalesce(discarded, 0) AS discarded, paused_at AS pausedAt
FROM route_tally FULL JOIN paused_routes USING (route) ORDER BY route`;

/** Pauses a route: route, now. */
export const PAUSE = `INSERT INTO paused_routes (route, paused_at) VALUES (?, ?) ON CONFLICT DO NOTHING`;

/** Resumes a route. */
export const RESUME = `DELETE FROM paused_routes WHERE route = ?`;

/** Whether a route is paused. */
export const IS_PAUSED = `SELECT 1 FROM paused_routes WHERE route = ?`;

/** The statuses of an event's jobs. */
export const JOB_STATUSES = `SELECT status FROM jobs WHERE event = ?`;

/** Due jobs and expired leases of a route, oldest first: route, now, limit. */
export const DUE = `
SELECT event, attempts, attempts_before_replay AS attemptsBeforeReplay, is_replay AS isReplay, lease_owner AS leaseOwner,
  claimed_at AS claimedAt
FROM jobs WHERE route = ? AND due_at <= ? ORDER BY due_at LIMIT +?`;

/** The parts of an event that routing and an attempt need: event. */
export const EVENT_OF_JOB = `
SELECT source, event_id AS eventId, type, content_type AS contentType, received_at AS receivedAt, headers,
  payload_crc32 AS payloadCrc32, payload
FROM contents JOIN events ON events.id = contents.event WHERE contents.event = ?`;

/** When the next queued job of a route is due, or its lease ends: route. */
export const NEXT_DUE = `SELECT min(due_at) FROM jobs WHERE route = ? AND due_at IS NOT NULL`;

/**
 * Leases a job: owner, now, end of the lease, event, route. The attempt is counted here: a handler that kills the
 * process must still use one up.
 */
export const LEASE = `
UPDATE jobs SET attempts = attempts + 1, lease_owner = ?, claimed_at = ?, due_at = ?
WHERE event = ? AND route = ? AND status = 'queued'`;

/** True while a claim is held: event, route, owner, attempt. */
const HELD = `event = ? AND route = ? AND status = 'queued' AND lease_owner = ? AND attempts = ?`;

/** Extends a lease that is still held: end of the lease, claim. */
export const RENEW = `UPDATE jobs SET due_at = ? WHERE ${HELD}`;

/**
 * Ends an attempt whose claim is still held: status, due, end, error, 1 if the attempt is free, 1 if the job keeps its
 * place in line, claim.
 */
export const SETTLE = `
UPDATE jobs SET status = ?, due_at = ?, lease_owner = NULL, claimed_at = NULL, ended_at = ?, last_error = ?,
  attempts_before_replay = attempts_before_replay + ?, in_line = in_line AND ?
WHERE ${HELD}`;

/** Ends a job whose event cannot be read, leased or not: end, error, 1 if it keeps its place in line, event, route. */
export const SET_ASIDE = `
UPDATE jobs SET status = 'failed', due_at = NULL, lease_owner = NULL, claimed_at = NULL, ended_at = ?, last_error = ?,
  in_line = in_line AND ?
WHERE event = ? AND route = ? AND status = 'queued'`;

/** Undoes a claim that is still held: now, claim. */
export const RELEASE = `
UPDATE jobs SET attempts = attempts - 1, due_at = (SELECT min(received_at, ?) FROM events WHERE id = event),
  lease_owner = NULL, claimed_at = NULL
WHERE ${HELD}`;

/**
 * Makes jobs due that are leased, or that wait longer than any retry does because the clock was wrong. They keep their
 * place before later events.
 */
export const RELEASE_ALL = `
UPDATE jobs SET due_at = (SELECT min(received_at, @now) FROM events WHERE id = event)
WHERE status = 'queued' AND due_at > @now AND (lease_owner IS NOT NULL OR due_at > @now + @longestWaitMs)`;

/** Adds an ended attempt to the history: event, route, attempt, started, finished, outcome, error, response. */
export const ADD_ATTEMPT = `
INSERT INTO attempts (event, route, attempt, started_at, finished_at, outcome, error, response)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)`;

/** Adds a job to the dead letters: event, route, failed, reason, 1 if its event is unreadable. */
export const ADD_DEAD_LETTER = `
INSERT INTO dead_letters (event, route, failed_at, reason, unreadable) VALUES (?, ?, ?, ?, ?)`;

/** How many jobs are dead letters because their events cannot be read. */
export const UNREADABLE = `SELECT count(*) FROM dead_letters WHERE unreadable = 1`;

/** The number of an event: event id, source. */
export const FIND = `SELECT id FROM events WHERE event_id = ? AND source = ?`;

/** Discards a job: now, event, route. */
export const DISCARD = `
UPDATE jobs SET status = 'discarded', due_at = NULL, in_line = 0, ended_at = ? WHERE event = ? AND route = ?`;

/** Keeps why a job was discarded: event, route, now, reason. */
export const ADD_DISCARD = `
INSERT INTO discards (event, route, discarded_at, reason) VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET discarded_at = excluded.discarded_at, reason = excluded.reason`;

/** The jobs of an event that a replay or a discard may change: event. */
export const JOBS_TO_CHANGE = `
SELECT route, status, ordering_key AS orderingKey, lease_owner AS leaseOwner FROM jobs WHERE event = ?`;

/** Queues a job again with a fresh budget. `@dueAt` is null if it waits in line. */
export const REQUEUE = `
UPDATE jobs SET status = 'queued', ordering_key = @orderingKey, in_line = @orderingKey IS NOT NULL, due_at = @dueAt,
  is_replay = 1, attempts_before_replay = attempts
WHERE event = @event AND route = @route`;

/** Adds a job that a forced replay gives to an event. `@dueAt` is null if it waits in line. */
export const ADD_REPLAYED_JOB = `
INSERT INTO jobs (event, route, status, is_replay, ordering_key, in_line, due_at)
VALUES (@event, @route, 'queued', 1, @orderingKey, @orderingKey IS NOT NULL, @dueAt)`;

/** Removes a job from the dead letters: event, route. */
export const REMOVE_DEAD_LETTER = `DELETE FROM dead_letters WHERE event = ? AND route = ?`;

/**
 * The next jobs of a status in the order of their events: status, after this event, up to this one, limit. Callers
 * compare their events with a filter.
 */
export const OPEN_JOBS = `
SELECT event, route, last_error AS lastError FROM jobs
WHERE status = ? AND status <> 'processed' AND event > ? AND event <= ? ORDER BY event LIMIT +?`;

/** The newest event with a job of a status. */
export const LAST_OPEN = `SELECT max(event) FROM jobs WHERE status = ? AND status <> 'processed'`;

/** What a filter of jobs compares: event. */
export const FILTERED = `SELECT source, type, received_at AS receivedAt FROM events WHERE id = ?`;

/** Gives an event to the present routes, unless it is removed, waits for fan-out or is queued. */
export const REROUTE = `
INSERT INTO reroutes (event) SELECT @event WHERE @event <= (SELECT routed_to FROM tally)
  AND EXISTS (SELECT 1 FROM contents WHERE event = @event)
  AND (NOT EXISTS (SELECT 1 FROM jobs WHERE event = @event)
    OR EXISTS (SELECT 1 FROM jobs WHERE event = @event AND status <> 'queued'))
ON CONFLICT DO NOTHING`;

/** The first events to route anew: limit. */
export const REROUTED = `
SELECT id, source, type, received_at AS receivedAt FROM reroutes JOIN events ON id = event ORDER BY event LIMIT +?`;

/** Counts an unrouted event that has jobs now. */
export const TALLY_REROUTED = `UPDATE tally SET unrouted = unrouted - 1`;

/** An event has been routed anew: event. */
export const REMOVE_REROUTE = `DELETE FROM reroutes WHERE event = ?`;

/** Adds a conflict as an event of its own. `@conflict` is its position in {@link CONFLICTS}, from 1. */
export const REPLAY_CONFLICT = `
INSERT INTO events (source, event_id, type, received_at, size)
SELECT @source, '${DIGEST_PREFIX}' || lower(hex(payload_sha256)), type, @now, length(payload) + octet_length(headers)
FROM conflicts WHERE event = (SELECT id FROM events WHERE event_id = @eventId AND source = @source)
ORDER BY first_at, payload_sha256 LIMIT 1 OFFSET @conflict - 1
ON CONFLICT DO NOTHING`;

/** Adds the contents of {@link REPLAY_CONFLICT} to the event with the number `@event`. */
export const REPLAY_CONFLICT_CONTENTS = `
INSERT INTO contents (event, secret, address, headers, content_type, payload_crc32, payload)
SELECT @event, secret, address, headers, content_type, payload_crc32, payload
FROM conflicts WHERE event = (SELECT id FROM events WHERE event_id = @eventId AND source = @source)
ORDER BY first_at, payload_sha256 LIMIT 1 OFFSET @conflict - 1`;

/** A repeat that is not an event yet: event id, source, id of the repeat. */
export const REPEAT = `
SELECT repeats.event, number FROM repeats JOIN events ON id = repeats.event
WHERE events.event_id = ? AND source = ? AND repeats.event_id = ? AND replayed_as IS NULL`;

/** Adds a repeat as an event of its own, with the id `@eventId`, unless that is taken. */
export const REPLAY_REPEAT = `
INSERT INTO events (source, event_id, type, received_at, size)
SELECT source, @eventId, repeats.type, @now, length(payload) + octet_length(repeats.headers)
FROM repeats JOIN contents USING (event) JOIN events ON id = event WHERE event = @event AND number = @number
ON CONFLICT DO NOTHING`;

/** Adds the contents of {@link REPLAY_REPEAT} to the event with the number `@added`. */
export const REPLAY_REPEAT_CONTENTS = `
INSERT INTO contents (event, secret, address, headers, content_type, payload_crc32, payload)
SELECT @added, repeats.secret, repeats.address, repeats.headers, repeats.content_type, payload_crc32, payload
FROM repeats JOIN contents USING (event) WHERE event = @event AND number = @number`;

/** A repeat is an event of its own: the id of that event, event, number. */
export const REPEAT_REPLAYED = `UPDATE repeats SET replayed_as = ? WHERE event = ? AND number = ?`;

/** The columns of an event in a list. */
export const EVENT = `events.id, events.source, events.event_id AS eventId, events.type, events.received_at AS receivedAt`;

/** The events with an id, of one source, or of every source when `@source` is null. */
export const GET = `
SELECT ${EVENT}, address, secret, headers, content_type AS contentType, payload
FROM events JOIN contents ON contents.event = events.id WHERE event_id = @eventId AND (@source IS NULL OR source = @source) ORDER BY source`;

const JOB_IN_LIST = `route, status, attempts, ordering_key AS orderingKey, due_at AS dueAt, lease_owner IS NOT NULL AS leased,
  ended_at AS endedAt, last_error AS lastError`;

/** The jobs of an event. */
export const JOBS = `SELECT ${JOB_IN_LIST} FROM jobs WHERE event = ? ORDER BY route`;

/** The jobs of an event, with why they ended. */
export const JOBS_IN_DETAIL = `
SELECT ${JOB_IN_LIST}, failed_at AS failedAt, dead_letters.reason AS failReason, discarded_at AS discardedAt,
  discards.reason AS discardReason
FROM jobs LEFT JOIN dead_letters USING (event, route) LEFT JOIN discards USING (event, route) WHERE event = ? ORDER BY route`;

/** A queued or failed job with its event: event, route. */
export const OPEN_JOB = `
SELECT source, event_id AS eventId, type, received_at AS receivedAt, route, status, attempts, ordering_key AS orderingKey,
  due_at AS dueAt, lease_owner IS NOT NULL AS leased, last_error AS lastError, failed_at AS failedAt, reason
FROM jobs JOIN events ON id = jobs.event LEFT JOIN dead_letters USING (event, route) WHERE jobs.event = ? AND jobs.route = ?`;

/** The ended attempts of an event's jobs, oldest first. */
export const HISTORY = `
SELECT route, attempt, started_at AS startedAt, finished_at AS finishedAt, outcome, error, response
FROM attempts WHERE event = ? ORDER BY route, attempt`;

/** The conflicts of an event, oldest first. */
export const CONFLICTS = `
SELECT rowid AS id, lower(hex(payload_sha256)) AS payloadSha256, deliveries, first_at AS firstAt, last_at AS lastAt,
  address, length(payload) AS bytes
FROM conflicts WHERE event = ? ORDER BY first_at, payload_sha256`;

/** The payload of one of {@link CONFLICTS}. */
export const CONFLICT_PAYLOAD = `SELECT payload FROM conflicts WHERE rowid = ?`;

/** The repeats of an event, oldest first. */
export const REPEATS = `
SELECT number, event_id AS eventId, type, deliveries, first_at AS firstAt, last_at AS lastAt, address, headers,
  replayed_as AS replayedAs
FROM repeats WHERE event = ? ORDER BY number`;

/** The size of the file without free pages. */
export const USED_BYTES = `((SELECT page_count FROM pragma_page_count) - (SELECT freelist_count FROM pragma_freelist_count))
    * (SELECT page_size FROM pragma_page_size)`;

/** The number of events in each status, and when the oldest queued one came. An event before fan-out is queued. */
export const BACKLOG = `
SELECT queued + (SELECT coalesce(max(id), 0) FROM events) - routed_to AS queued, processed, failed, unrouted, conflicts,
  (${UNREADABLE}) AS unreadable,
  (SELECT received_at FROM events WHERE id = coalesce(
    (SELECT min(event) FROM jobs WHERE status = 'queued' AND status <> 'processed'),
    (SELECT min(id) FROM events WHERE id > routed_to))) AS oldestQueuedAt,
  (SELECT coalesce(max(id), 0) FROM events) - removed AS ids,
  ${USED_BYTES} AS bytes
FROM tally`;
