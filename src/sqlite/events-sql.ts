import { DIGEST_PREFIX } from "../events/event.ts";
import type { EventFilter } from "../events/store.ts";

// The statements of the hot path take their values by position: binding by name costs as much as the write.
// `LIMIT +?` instead of `LIMIT ?`: SQLite plans a statement again whenever its bare limit is bound.

/**
 * The attempts of an event, of which `attempts` holds -1 until its first claim. That claim brings it into the indexes that
 * neither a delivery nor a claim reads: a delivery does not wait for those.
 */
const ATTEMPTS = "max(attempts, 0)";

/** The columns of an event's summary, under the names of its members. */
const SUMMARY = `source, event_id AS eventId, type, status, ${ATTEMPTS} AS attempts, received_at AS receivedAt,
  processed_at AS processedAt, last_error AS lastError`;

/**
 * Stores a delivery unless its identity is known: source, event id, type, due, received, address, headers, content type,
 * secret, digest of the bytes, payload.
 */
export const APPEND = `
INSERT INTO events (source, event_id, type, status, attempts, due_at, received_at, address, headers, content_type, secret,
  bytes_sha256, payload)
VALUES (?, ?, ?, 'queued', -1, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING`;

/** What is stored under an identity: event id, source. */
export const STORED = `
SELECT id, bytes_sha256 IS NOT NULL AS isUnsigned, payload FROM events WHERE event_id = ? AND source = ?`;

/** The id of the event that came with these bytes under an unsigned id: digest, source. */
export const STORED_BYTES = `
SELECT event_id FROM events WHERE bytes_sha256 = ? AND source = ? AND bytes_sha256 IS NOT NULL`;

/** Keeps other bytes under a known identity once, and counts how often they came. */
export const ADD_CONFLICT = `
INSERT INTO conflicts (event, payload_sha256, payload, type, content_type, headers, address, first_at, last_at, deliveries)
VALUES (@event, @payloadSha256, @payload, @type, @contentType, @headers, @address, @receivedAt, @receivedAt, 1)
ON CONFLICT (event, payload_sha256) DO UPDATE SET last_at = excluded.last_at, deliveries = deliveries + 1`;

/** The payloads' sizes of what {@link DUE} finds: now, limit. */
export const DUE_SIZES = `
SELECT length(payload) FROM events WHERE status = 'queued' AND due_at <= ? ORDER BY due_at LIMIT +?`;

/** Due events and expired leases, oldest first: now, limit. */
export const DUE = `
SELECT id, source, event_id AS eventId, type, content_type AS contentType, payload, received_at AS receivedAt,
  ${ATTEMPTS} AS attempts, attempts_before_replay AS attemptsBeforeReplay, lease_owner AS leaseOwner, claimed_at AS claimedAt
FROM events WHERE status = 'queued' AND due_at <= ? ORDER BY due_at LIMIT +?`;

/** When the next queued event is due, or its lease ends. */
export const NEXT_DUE = `SELECT min(due_at) FROM events WHERE status = 'queued'`;

/**
 * Leases one event: owner, now, end of the lease, id. The attempt is counted here: a handler that kills the process must
 * still use one up.
 */
export const LEASE = `
UPDATE events SET attempts = ${ATTEMPTS} + 1, lease_owner = ?, claimed_at = ?, due_at = ?
WHERE id = ? AND status = 'queued'`;

/** Extends a lease that is still held. */
export const RENEW = `
UPDATE events SET due_at = @leaseEndsAt
WHERE id = @id AND status = 'queued' AND lease_owner = @owner AND attempts = @attempt`;

/**
 * Ends an attempt, if its claim is still held: status, due, processed, error, attempts outside of the budget, and the
 * claim's id, owner, attempt.
 */
export const SETTLE = `
UPDATE events SET status = ?, due_at = ?, lease_owner = NULL, claimed_at = NULL, processed_at = ?, last_error = ?,
  attempts_before_replay = attempts_before_replay + ?
WHERE id = ? AND status = 'queued' AND lease_owner = ? AND attempts = ?`;

/** Dead-letters an event whose last lease ran out. */
export const BURY = `
UPDATE events SET status = 'failed', lease_owner = NULL, claimed_at = NULL, last_error = @error
WHERE id = @id
RETURNING ${SUMMARY}`;

/** Adds an ended attempt to the history: event, attempt, started, finished, outcome, error. */
export const ADD_ATTEMPT = `
INSERT INTO attempts (event, attempt, started_at, finished_at, outcome, error) VALUES (?, ?, ?, ?, ?, ?)`;

/** Puts an event that has failed for good into the dead letters. */
export const ADD_DEAD_LETTER = `INSERT INTO dead_letters (event, failed_at, reason) VALUES (@event, @failedAt, @reason)`;

/** Undoes a claim that is still held: now, and the claim's id, owner, attempt. */
export const RELEASE = `
UPDATE events SET attempts = attempts - 1, due_at = min(received_at, ?), lease_owner = NULL, claimed_at = NULL
WHERE id = ? AND status = 'queued' AND lease_owner = ? AND attempts = ?`;

/**
 * Ends every lease now, and every wait that is longer than any: the clock was wrong when it began. What was in work goes
 * before what has come since.
 */
export const RELEASE_ALL = `
UPDATE events SET attempts = ${ATTEMPTS}, due_at = min(received_at, @now)
WHERE status = 'queued' AND due_at > @now AND (lease_owner IS NOT NULL OR due_at > @now + @longestWaitMs)`;

/** What a replay does to an event: due now, with a fresh budget. */
const REQUEUED = `
UPDATE events SET status = 'queued', due_at = @now, processed_at = NULL, attempts_before_replay = attempts`;

/** Replays one event that has failed or, when it is forced, was processed. One that is still queued stays as it is. */
export const REPLAY_ONE = `${REQUEUED}
WHERE event_id = @eventId AND source = @source AND (status = 'failed' OR (status = 'processed' AND @evenIfProcessed))
RETURNING id`;

/** The dead letter of the newest event. */
export const LAST_DEAD_LETTER = `SELECT max(event) FROM dead_letters`;

/** The next dead letters behind an event, up to the last one, with the sizes of their payloads: after, last, limit. */
export const NEXT_DEAD_LETTERS = `
SELECT event AS id, (SELECT length(payload) FROM events WHERE id = event) AS bytes
FROM dead_letters WHERE event > ? AND event <= ? ORDER BY event LIMIT +?`;

/** Replays the dead letters behind an event, up to the last one. */
export const REPLAY_DEAD_LETTERS = `${REQUEUED}
WHERE id IN (SELECT event FROM dead_letters WHERE event > @after AND event <= @last) AND status = 'failed'`;

/** Takes a replayed event out of the dead letters. */
export const REMOVE_DEAD_LETTER = `DELETE FROM dead_letters WHERE event = ?`;

/** Takes out what {@link REPLAY_DEAD_LETTERS} has replayed, in its transaction. */
export const REMOVE_DEAD_LETTERS = `DELETE FROM dead_letters WHERE event > @after AND event <= @last`;

/** Events that have been claimed, newest first; every condition is a column of an index that ends in `received_at`. */
export function listClaimedStatement(filter: EventFilter): string {
  const { status } = filter;
  const conditions = ["attempts >= 0"];
  // The partial index serves only a query that repeats its condition.
  if (status !== undefined)
    conditions.push(`status = @status${status === "processed" ? "" : " AND status <> 'processed'"}`);
  return newest(conditions, filter, "received_at");
}

/** Events that have not been claimed yet, newest first: due since they were received, and only in the index of what is due. */
export function listUnclaimedStatement(filter: EventFilter): string {
  return newest(["status = 'queued'", "attempts < 0"], filter, "due_at");
}

function newest(conditions: readonly string[], { type, source, since }: EventFilter, time: string): string {
  const all = [...conditions];
  if (type !== undefined) all.push("type = @type");
  if (source !== undefined) all.push("source = @source");
  if (since !== undefined) all.push(`${time} >= @since`);
  return `SELECT ${SUMMARY} FROM events WHERE ${all.join(" AND ")} ORDER BY ${time} DESC, id DESC LIMIT @limit`;
}

/** The events with an id: of one source, or of every source when that is null. */
export const GET = `
SELECT id, ${SUMMARY}, due_at AS dueAt, lease_owner IS NOT NULL AS leased, address, headers,
  content_type AS contentType, payload
FROM events WHERE event_id = @eventId AND (@source IS NULL OR source = @source) ORDER BY source`;

/** The ended attempts of an event, oldest first. */
export const HISTORY = `
SELECT attempt, started_at AS startedAt, finished_at AS finishedAt, outcome, error
FROM attempts WHERE event = ? ORDER BY attempt`;

/** Why and when an event became a dead letter; no row when it is none. */
export const DEAD_LETTER = `SELECT failed_at AS failedAt, reason FROM dead_letters WHERE event = ?`;

/** What else came under the id of an event, oldest first. */
export const CONFLICTS = `
SELECT rowid AS id, lower(hex(payload_sha256)) AS payloadSha256, deliveries, first_at AS firstAt, last_at AS lastAt,
  address, length(payload) AS bytes
FROM conflicts WHERE event = ? ORDER BY first_at`;

/** Makes an event of its own of the conflict with a number, from 1 as {@link CONFLICTS} lists them. No row when there is none. */
export const REPLAY_CONFLICT = `
INSERT INTO events (source, event_id, type, status, attempts, due_at, received_at, address, headers, content_type, payload)
SELECT @source, '${DIGEST_PREFIX}' || lower(hex(payload_sha256)), type, 'queued', -1, @now, @now, address, headers, content_type, payload
FROM conflicts WHERE event = (SELECT id FROM events WHERE event_id = @eventId AND source = @source)
ORDER BY first_at LIMIT 1 OFFSET @conflict - 1
ON CONFLICT DO NOTHING`;

/** The bytes of one of {@link CONFLICTS}. */
export const CONFLICT_PAYLOAD = `SELECT payload FROM conflicts WHERE rowid = ?`;

/**
 * What is still to be done. `status <> 'processed' AND attempts >= 0` repeats the condition of the partial index
 * `events_unprocessed`: SQLite uses a partial index only for a query that does. What has not been claimed is due since it
 * was received, and nothing is due before its receipt, unless the clock was set back meanwhile.
 */
export const BACKLOG = `
SELECT
  (SELECT count(*) FROM events WHERE status = 'queued') AS queued,
  (SELECT count(*) FROM dead_letters) AS failed,
  (SELECT min(at) FROM (
    SELECT min(received_at) AS at FROM events WHERE status = 'queued' AND status <> 'processed' AND attempts >= 0
    UNION ALL
    SELECT min(due_at) FROM events WHERE status = 'queued')) AS oldestQueuedAt`;

/** How many events are stored, and how often other bytes came under a known id. */
export const TOTALS = `
SELECT
  (SELECT count(*) FROM events) AS total,
  (SELECT coalesce(sum(deliveries), 0) FROM conflicts) AS conflicts`;
