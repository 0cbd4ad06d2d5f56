import { minuteInSql } from "./stats.ts";

/**
 * Adds the events that are not known yet, with their contents: a column each. Numbers are given in order of arrival.
 * Rows are added in order of identity: two batches in opposite order would wait for each other. Returns the places of
 * the added events.
 */
export const APPEND = `
WITH input AS MATERIALIZED (
  SELECT nextval('authserve.events_id_seq') AS id, given.*
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::bytea[]) WITH ORDINALITY
    AS given (source, event_id, type, received_at, size, bytes_sha256, secret, address, headers, content_type, payload, place)),
added AS (
  INSERT INTO authserve.events (id, source, event_id, type, received_at, size, bytes_sha256)
  SELECT id, source, event_id, type, received_at, size, bytes_sha256 FROM input ORDER BY source, event_id
  ON CONFLICT DO NOTHING RETURNING id, source, received_at, size),
stored AS (
  INSERT INTO authserve.contents (event, secret, address, headers, content_type, payload)
  SELECT added.id, secret, address, headers, content_type, payload FROM added JOIN input USING (id)),
queued AS (INSERT INTO authserve.unrouted (event) SELECT id FROM added),
counted AS (
  INSERT INTO authserve.tally (queued, queued_bytes, ids)
  SELECT count(*), sum(size), count(*) FROM added HAVING count(*) > 0),
stats AS (
  INSERT INTO authserve.stats_added (at, outcome, slot, source, route, count)
  SELECT ${minuteInSql("received_at")}, 'received', 0, source, '', count(*) FROM added GROUP BY 1, source)
SELECT place - 1 AS place FROM added JOIN input USING (id)`;

/**
 * The events with these identities: sources, event ids. A statement after that of the append: in one statement, rows
 * that another server commits meanwhile are not seen. The digest of the payload is null once retention has removed it.
 */
export const STORED = `
SELECT id, source, event_id AS "eventId", encode(bytes_sha256, 'hex') AS "bytesSha256",
  encode(sha256(payload), 'hex') AS "payloadSha256"
FROM unnest($1::text[], $2::text[]) AS named (source, event_id) JOIN authserve.events USING (source, event_id)
  LEFT JOIN authserve.contents ON contents.event = id`;

/** The events with these bytes and an unsigned id: sources, digests. */
export const STORED_BYTES = `
SELECT id, source, encode(bytes_sha256, 'hex') AS "bytesSha256", event_id AS "eventId", received_at AS "receivedAt"
FROM unnest($1::text[], $2::bytea[]) AS named (source, bytes_sha256) JOIN authserve.events USING (source, bytes_sha256)
WHERE bytes_sha256 IS NOT NULL`;

/** The event that has the digest of these bytes: digest, source. */
export const SAME_BYTES = `
SELECT id, event_id AS "eventId", received_at AS "receivedAt"
FROM authserve.events WHERE bytes_sha256 = $1 AND source = $2 AND bytes_sha256 IS NOT NULL`;

/** Gives the digest of an event to a later one with the same bytes: event. */
export const FORGET_BYTES = `UPDATE authserve.events SET bytes_sha256 = NULL WHERE id = $1`;

/** Stores other bytes under known identities once, and counts their deliveries: a column each. */
export const ADD_CONFLICTS = `
WITH input AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::bytea[])
    AS given (event, payload_sha256, type, secret, address, headers, content_type, first_at, last_at, deliveries, payload)),
added AS (
  INSERT INTO authserve.conflicts (event, payload_sha256, type, secret, address, headers, content_type, first_at, last_at,
    deliveries, payload)
  SELECT event, payload_sha256, type, secret, address, headers, content_type, first_at, last_at, deliveries, payload
  FROM input ORDER BY event, payload_sha256
  ON CONFLICT (event, payload_sha256) DO UPDATE SET deliveries = conflicts.deliveries + excluded.deliveries,
    last_at = greatest(conflicts.last_at, excluded.last_at))
INSERT INTO authserve.tally (conflicts) SELECT sum(deliveries) FROM input`;
