import { COMPARED_AFTER, COMPARED_BEFORE, COMPARED_LATER } from "../events/timeline.ts";
import { TABLES_OF_EVENT } from "../lib/tables.ts";
import { USED_BYTES } from "./events-sql.ts";

/** What is stored, and the last event that has its jobs. */
export const TOTALS = `
SELECT processed, processed_bytes AS processedBytes, failed, failed_bytes AS failedBytes, routed_to AS routedTo,
  ${USED_BYTES} AS databaseBytes
FROM tally`;

/** The next events with contents, oldest first: after this event, up to this one, limit. */
export const CANDIDATES = `
SELECT contents.event, received_at AS receivedAt, size AS bytes FROM contents CROSS JOIN events ON id = contents.event
WHERE contents.event > ? AND contents.event <= ? ORDER BY contents.event LIMIT +?`;

/** The newest time of events after a page: its first event. */
export const LATER = `
SELECT max(received_at) FROM (SELECT received_at FROM events WHERE id >= ? + ${COMPARED_AFTER} ORDER BY id LIMIT ${COMPARED_LATER})`;

/** The newest time of events before a page that is not after a time: its first event, time. */
export const EARLIER = `
SELECT max(received_at) FROM (SELECT received_at FROM events WHERE id < ? ORDER BY id DESC LIMIT ${COMPARED_BEFORE})
WHERE received_at <= ?`;

/** The jobs of an event. */
export const ENDED_JOBS = `
SELECT route, status, ended_at AS endedAt, ordering_key AS orderingKey FROM jobs WHERE event = ?`;

/** Remove an event with all but its identity: event. */
export const REMOVE_CONTENTS = TABLES_OF_EVENT.map((table) => `DELETE FROM ${table} WHERE event = ?`);

/** Remove an event from the indexes for lists: event. */
export const REMOVE_FROM_INDEXES = ["type", "source"].map(
  (column) =>
    `DELETE FROM events_by_${column} WHERE event = @event AND ${column} = (SELECT ${column} FROM events WHERE id = @event)`,
);

/** Removes minutes before that of the oldest event. A clock that was set back must not hide later events. */
export const REMOVE_MINUTES = `
DELETE FROM events_by_minute
WHERE minute < (SELECT received_at / 60000 FROM events WHERE id = (SELECT min(event) FROM contents))
  AND first_event < (SELECT min(event) FROM contents)`;

/** Counts removed events, as differences: processed, bytes of processed, failed, bytes of failed, unrouted. */
export const TALLY_REMOVED = `
UPDATE tally SET processed = processed - ?, processed_bytes = processed_bytes - ?, failed = failed - ?,
  failed_bytes = failed_bytes - ?, unrouted = unrouted - ?`;

/** The next ids, oldest first, but not the newest: after this one, limit. */
export const OLD_IDS = `
SELECT id AS event, received_at AS receivedAt, size AS bytes, EXISTS (SELECT 1 FROM contents WHERE event = id) AS hasContents
FROM events WHERE id > ? AND id < (SELECT max(id) FROM events) ORDER BY id LIMIT +?`;

/** Removes an identity: event. */
export const REMOVE_ID = `DELETE FROM events WHERE id = ?`;

/** Counts removed identities. */
export const TALLY_REMOVED_IDS = `UPDATE tally SET removed = removed + ?`;
