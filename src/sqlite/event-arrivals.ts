import type { Arrival, EventStore } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";

/** The events behind a number whose contents are stored and not erased. */
const NEXT = `
SELECT id, source, event_id AS eventId, type, received_at AS receivedAt
FROM contents CROSS JOIN events ON id = contents.event WHERE contents.event > @after
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.event = contents.event)
ORDER BY contents.event LIMIT @limit`;

const NEWEST = "SELECT coalesce(max(id), 0) FROM events";

/** The first event received since a time. Minutes lead to it; fan-out adds them, so events before it have none. */
const FIRST_SINCE = `
SELECT id FROM events
WHERE id >= min(coalesce((SELECT min(first_event) FROM events_by_minute WHERE minute >= @since / 60000), 9e15),
  (SELECT routed_to + 1 FROM tally)) AND received_at >= @since
ORDER BY id LIMIT 1`;

/** Reads events in order of arrival: one transaction writes at a time, so numbers become visible in order. */
export function eventArrivals(database: Database): SyncPort<Pick<EventStore, "arrivals" | "arrivalsSince">> {
  const next = database.prepare<unknown[], Arrival>(NEXT);
  const newest = database.prepare<[], number>(NEWEST).pluck();
  const firstSince = database.prepare<unknown[], number>(FIRST_SINCE).pluck();
  const endOf = () => newest.get() as number;
  return {
    arrivals: database.transaction((after: number, limit: number) => {
      const items = next.all({ after, limit });
      return { items, end: items.length < limit ? endOf() : (items.at(-1)?.id ?? after) };
    }),
    arrivalsSince: database.transaction((since: number | null) => {
      const first = since === null ? undefined : firstSince.get({ since });
      return first === undefined ? endOf() : first - 1;
    }),
  };
}
