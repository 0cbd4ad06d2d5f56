import { COMPARED_AFTER, COMPARED_BEFORE, COMPARED_LATER } from "../events/timeline.ts";
import { TABLES_OF_EVENT } from "../lib/tables.ts";

/**
 * The next events with contents, oldest first, and whether they are before their fan-out: after this event, limit. Each
 * is looked up by itself: a join in order would read all identities between two events with contents.
 */
export const CANDIDATES = `
SELECT event, received_at AS "receivedAt", size AS bytes,
  (SELECT count(*) FROM authserve.unrouted WHERE unrouted.event = first.event) > 0 AS "isUnrouted"
FROM (SELECT event FROM authserve.contents WHERE event > $1 ORDER BY event LIMIT $2) AS first,
  LATERAL (SELECT * FROM authserve.events WHERE id = event LIMIT 1) AS found
ORDER BY event`;

/** The newest times of events after a page, and before it if they are not after those: its first event, now. */
export const TIMES_AROUND = `
SELECT later, (
  SELECT max(received_at) FROM (
    SELECT received_at FROM authserve.events WHERE id < $1 ORDER BY id DESC LIMIT ${COMPARED_BEFORE}) AS before
  WHERE received_at <= least($2, later)) AS earlier
FROM (SELECT max(received_at) AS later FROM (
  SELECT received_at FROM authserve.events WHERE id >= $1 + ${COMPARED_AFTER} ORDER BY id LIMIT ${COMPARED_LATER}) AS after) AS found`;

/** The statuses and ends of events' jobs: events. */
export const ENDED_JOBS = `
SELECT event, status, ended_at AS "endedAt" FROM authserve.jobs WHERE event = ANY($1::bigint[])`;

/**
 * Locks forced replays of events until the end of the transaction: events. One that is running adds jobs: then this
 * waits, and the statement after it sees the jobs.
 */
export const LOCK_REROUTES = `
SELECT event FROM authserve.reroutes WHERE event = ANY($1::bigint[]) ORDER BY event FOR UPDATE`;

/** Locks the contents of events until the end of the transaction. Another purge may have removed some: events. */
export const LOCK_CONTENTS = `
SELECT event FROM authserve.contents WHERE event = ANY($1::bigint[]) ORDER BY event FOR UPDATE`;

/** Remove events with all but their identities: events. */
export const REMOVE_CONTENTS = TABLES_OF_EVENT.map(
  (table) => `DELETE FROM authserve.${table} WHERE event = ANY($1::bigint[])`,
);

/** Removes minutes before that of the oldest event. A clock that was set back must not hide later events. */
export const REMOVE_MINUTES = `
DELETE FROM authserve.events_by_minute
WHERE minute < (SELECT received_at / 60000 FROM authserve.events WHERE id = (SELECT min(event) FROM authserve.contents))
  AND first_event < (SELECT min(event) FROM authserve.contents)`;

/** The next ids, oldest first, but not the newest: after this one, limit. */
export const OLD_IDS = `
SELECT id AS event, received_at AS "receivedAt", size AS bytes,
  (SELECT count(*) FROM authserve.contents WHERE contents.event = id) > 0 AS "hasContents"
FROM authserve.events WHERE id > $1 AND id <> (SELECT max(id) FROM authserve.events) ORDER BY id LIMIT $2`;

/** Removes identities. Another purge may have removed some: events. */
export const REMOVE_IDS = `DELETE FROM authserve.events WHERE id = ANY($1::bigint[])`;
