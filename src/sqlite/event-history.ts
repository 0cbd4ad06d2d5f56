import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import type { EventStore, HistoryEvent, HistoryRequest } from "../events/store.ts";
import { orNull, type PayloadCodec } from "../storage/payload-codec.ts";
import { type SentRow, sentBy } from "../storage/sent-bodies.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { eventReader } from "./stored-event.ts";

/** The next events with contents, oldest first. Minutes lead to the first event since a time. */
const NEXT = `
SELECT id, size FROM contents CROSS JOIN events ON id = contents.event
WHERE contents.event > max(@after, coalesce((SELECT min(first_event) FROM events_by_minute WHERE minute >= @since / 60000), 0) - 1)
  AND received_at >= @since AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.event = id)
ORDER BY contents.event LIMIT @limit`;

/** The event with this id and source, if its content is stored. */
const NAMED = `
SELECT id, size FROM events WHERE event_id = @eventId AND source = @source AND id > @after
  AND EXISTS (SELECT 1 FROM contents WHERE event = id) AND NOT EXISTS (SELECT 1 FROM erasures WHERE event = id)`;

/** What the jobs of an event have sent: event. */
const JOBS = `
SELECT jobs.route, attempts, content_type AS contentType, body AS payload
FROM jobs LEFT JOIN sent_bodies ON sent_bodies.event = jobs.event AND sent_bodies.route = jobs.route WHERE jobs.event = ?`;

/** Reads stored events with what was sent, one after another. */
export function eventHistory(database: Database, codec: PayloadCodec): SyncPort<Pick<EventStore, "history">> {
  const next = database.prepare<unknown[], { id: number; size: number }>(NEXT);
  const named = database.prepare<unknown[], { id: number; size: number }>(NAMED);
  const jobs = database.prepare<[number], SentRow>(JOBS);
  const readEvent = eventReader(database, codec);

  const read = ({ name, ...request }: HistoryRequest): HistoryEvent[] => {
    const rows = name ? named.all({ ...name, ...request }) : next.all(request);
    const events: HistoryEvent[] = [];
    let bytes = 0;
    for (const { id, size } of rows) {
      bytes += size;
      if (events.length > 0 && bytes > MAX_PAYLOAD_BYTES) break;
      const { event } = readEvent(id);
      const sent = orNull(() => jobs.all(id).map((job) => sentBy(codec, id, job)));
      if (event && sent) events.push({ ...event, id, jobs: sent });
    }
    return events;
  };
  return { history: database.transaction(read) };
}
