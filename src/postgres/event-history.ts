import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import type { EventStore, HistoryEvent } from "../events/store.ts";
import { orNull, type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import { type SentRow, sentBy } from "../storage/sent-bodies.ts";
import type { Postgres } from "./connection.ts";
import { integers } from "./values.ts";

/**
 * The next events with contents, oldest first, as many as fit, at least one: after this event, since, limit, bytes.
 * Minutes lead to the first event since a time.
 */
const NEXT = `
SELECT id, source, event_id AS "eventId", type, received_at AS "receivedAt", content_type AS "contentType", headers, payload
FROM (
  SELECT *, sum(size) OVER (ORDER BY id) AS total, row_number() OVER (ORDER BY id) AS nth
  FROM (
    SELECT id, source, event_id, type, received_at, size FROM authserve.events
    WHERE id > greatest($1::bigint, coalesce((SELECT min(first_event) FROM authserve.events_by_minute WHERE minute >= $2::bigint / 60000), 0) - 1)
      AND received_at >= $2::bigint AND EXISTS (SELECT 1 FROM authserve.contents WHERE event = id)
      AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE event = id)
    ORDER BY id LIMIT $3) AS first) AS sized
JOIN authserve.contents ON event = id WHERE nth = 1 OR total <= $4 ORDER BY id`;

/** The event with this id and source, if its content is stored: event id, source, after this event. */
const NAMED = `
SELECT id, source, event_id AS "eventId", type, received_at AS "receivedAt", content_type AS "contentType", headers, payload
FROM authserve.events JOIN authserve.contents ON event = id WHERE event_id = $1 AND source = $2 AND id > $3
  AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = id)`;

/** What the jobs of events have sent: events. */
const JOBS = `
SELECT event, route, attempts, content_type AS "contentType", body AS payload
FROM authserve.jobs LEFT JOIN authserve.sent_bodies USING (event, route) WHERE event = ANY($1::bigint[]) ORDER BY event, route`;

type JobRow = SentRow & { event: number };

/** Reads stored events with what was sent, one after another. */
export function eventHistory(postgres: Postgres, codec: PayloadCodec): Pick<EventStore, "history"> {
  return {
    async history({ after, since, name, limit }) {
      const events = name
        ? await postgres.rows<Omit<HistoryEvent, "jobs">>(NAMED, [name.eventId, name.source, after])
        : await postgres.rows<Omit<HistoryEvent, "jobs">>(NEXT, [after, since, limit, MAX_PAYLOAD_BYTES]);
      const rows = await postgres.rows<JobRow>(JOBS, [integers(events.map(({ id }) => id))]);
      const jobs = Map.groupBy(rows, ({ event }) => event);
      // Those whose key is missing are left out.
      return events.flatMap((event) => orNull(() => opened(codec, event, jobs.get(event.id) ?? [])) ?? []);
    },
  };
}

function opened(codec: PayloadCodec, event: Omit<HistoryEvent, "jobs">, jobs: readonly JobRow[]): HistoryEvent {
  const content = { text: event.headers, bytes: event.payload };
  const { text: headers, bytes: payload } = codec.open(ROW.contents(event.source, event.eventId), content);
  return { ...event, headers, payload, jobs: jobs.map((job) => sentBy(codec, event.id, job)) };
}
