import { pendingOf } from "../events/captured.ts";
import type { NewJob } from "../events/job.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import type { EventPayload, EventStore, PendingEvent } from "../events/store.ts";
import { orNull, type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import type { Postgres } from "./connection.ts";
import type { EventTally } from "./event-tally.ts";
import { lockLines } from "./ordering.ts";
import { minuteInSql } from "./stats.ts";
import { columnsOf, integers, texts } from "./values.ts";

/**
 * The events in a table that wait for their jobs, in order of arrival: limit. Each is looked up by itself: a join in
 * order would read all events before the first one.
 */
export const waitingEvents = (table: "unrouted" | "reroutes") => `
SELECT id, source, type, received_at AS "receivedAt"
FROM (SELECT event FROM authserve.${table} ORDER BY event LIMIT $1) AS first,
  LATERAL (SELECT * FROM authserve.events WHERE id = event LIMIT 1) AS found
ORDER BY id`;

/** Those before fan-out, each with its secret: limit. */
const PENDING = `
SELECT waiting.*, secret FROM (${waitingEvents("unrouted")}) AS waiting
LEFT JOIN LATERAL (SELECT secret FROM authserve.contents WHERE event = waiting.id LIMIT 1) AS content ON true
ORDER BY waiting.id`;

/** The payloads of the first of these events, as many as fit, at least one: events, bytes. */
const PAYLOADS = `
SELECT payload, content_type AS "contentType", headers, source, event_id AS "eventId" FROM (
  SELECT nth, event, payload, content_type, headers, sum(length(payload)) OVER (ORDER BY nth) AS total
  FROM unnest($1::bigint[]) WITH ORDINALITY AS named (event, nth) LEFT JOIN authserve.contents USING (event)) AS sized
  LEFT JOIN authserve.events ON id = event
WHERE nth = 1 OR coalesce(total, 0) <= $2 ORDER BY nth`;

/**
 * Adds the jobs of events that still have none: the events, then the event, route, time, ordering key and failure of
 * each job. A job with an ordering key is due if no job of the key is before it. Two servers may be here at once: each
 * event is taken by one.
 */
const ADD_JOBS = `
WITH named AS MATERIALIZED (
  SELECT event FROM authserve.unrouted WHERE event = ANY($1::bigint[]) ORDER BY event FOR UPDATE),
taken AS (DELETE FROM authserve.unrouted USING named WHERE unrouted.event = named.event RETURNING unrouted.event),
added AS (
  INSERT INTO authserve.jobs (event, route, status, ended_at, last_error, due_at, ordering_key, in_line)
  SELECT event, route, CASE WHEN failure IS NULL THEN 'queued' ELSE 'failed' END,
    CASE WHEN failure IS NOT NULL THEN due_at END, failure,
    CASE WHEN failure IS NOT NULL THEN NULL
      WHEN ordering_key IS NULL OR row_number() OVER (PARTITION BY route, ordering_key ORDER BY event) = 1
      AND NOT EXISTS (SELECT 1 FROM authserve.jobs AS earlier
        WHERE earlier.route = job.route AND earlier.ordering_key = job.ordering_key AND earlier.in_line) THEN due_at END,
    ordering_key, ordering_key IS NOT NULL
  FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::text[], $6::text[])
      AS job (event, route, due_at, ordering_key, failure)
    JOIN taken USING (event)
  RETURNING event, route, status, ended_at, last_error),
dead_letters AS (
  INSERT INTO authserve.dead_letters (event, route, failed_at, reason)
  SELECT event, route, ended_at, last_error FROM added WHERE status = 'failed'),
minutes AS (
  INSERT INTO authserve.events_by_minute (minute, first_event, last_event)
  SELECT received_at / 60000, min(id), max(id) FROM taken JOIN authserve.events ON id = event GROUP BY 1 ORDER BY 1
  ON CONFLICT (minute) DO UPDATE SET first_event = least(events_by_minute.first_event, excluded.first_event),
    last_event = greatest(events_by_minute.last_event, excluded.last_event)),
jobless AS MATERIALIZED (
  SELECT taken.event, source, received_at, size FROM taken JOIN authserve.events ON id = taken.event
  WHERE NOT EXISTS (SELECT 1 FROM added WHERE added.event = taken.event)),
untaken AS (INSERT INTO authserve.untaken SELECT event FROM jobless),
stats AS (
  INSERT INTO authserve.stats_added (at, outcome, slot, source, route, count)
  SELECT ${minuteInSql("received_at")}, 'unrouted', 0, source, '', count(*) FROM jobless GROUP BY 1, source)
INSERT INTO authserve.tally (route, queued, failed, processed, queued_bytes, failed_bytes, processed_bytes, unrouted)
SELECT route, count(*) FILTER (WHERE status = 'queued'), count(*) FILTER (WHERE status = 'failed'), 0, 0, 0, 0, 0
FROM added GROUP BY route
UNION ALL SELECT '', -count(*), 0, count(*), -sum(size), 0, sum(size), count(*) FROM jobless HAVING count(*) > 0
UNION ALL SELECT '', -count(*), count(*), 0, -sum(size), sum(size), 0, 0 FROM (
  SELECT event FROM added GROUP BY event HAVING bool_and(status = 'failed')) AS dead
  JOIN authserve.events ON id = event HAVING count(*) > 0`;

const JOB = { event: integers, route: texts, dueAt: integers, orderingKey: texts, failure: texts };

interface PayloadRow extends Omit<EventPayload, "payload"> {
  source: string;
  eventId: string;
  /** Null once it is removed. */
  payload: Uint8Array | null;
}

const withFailure = (job: NewJob) => ({ ...job, failure: job.failure ?? null });

/** Finds events without jobs and adds their jobs. */
export function eventFanOut(
  postgres: Postgres,
  tally: EventTally,
  codec: PayloadCodec,
): Pick<EventStore, "pending" | "payloads" | "addJobs"> {
  return {
    async pending(limit) {
      const rows = await postgres.rows<PendingEvent & { secret: string | null }>(PENDING, [limit]);
      return rows.map(pendingOf);
    },
    async payloads(events) {
      const values = [integers(events), MAX_PAYLOAD_BYTES];
      const rows = await postgres.rows<PayloadRow>(PAYLOADS, values);
      return rows.map(({ source, eventId, contentType, headers: text, payload: bytes }) => {
        const content =
          bytes === null ? null : orNull(() => codec.open(ROW.contents(source, eventId), { text, bytes }));
        return content && { contentType, headers: content.text, payload: content.bytes };
      });
    },
    async addJobs(events, jobs) {
      const values = [integers(events), ...columnsOf(jobs.map(withFailure), JOB)];
      const lines = jobs.flatMap(({ route, orderingKey }) => (orderingKey === null ? [] : [{ route, orderingKey }]));
      if (lines.length === 0) await postgres.run(ADD_JOBS, values);
      else
        await postgres.transaction(async (queries) => {
          // The statement after the locks sees the jobs of all transactions that held a line before.
          lockLines(queries, [], lines);
          void queries.run(ADD_JOBS, values);
        });
      tally.note();
    },
  };
}
