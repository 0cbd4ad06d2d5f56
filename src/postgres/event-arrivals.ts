import { setTimeout as delay } from "node:timers/promises";
import { AppError } from "../errors.ts";
import type { Arrival, EventStore } from "../events/store.ts";
import type { Postgres } from "./connection.ts";

/** The events behind a number and up to another one whose contents are stored and not erased: both, limit. */
const NEXT = `
SELECT id, source, event_id AS "eventId", type, received_at AS "receivedAt" FROM authserve.events
WHERE id > $1 AND id <= $2 AND EXISTS (SELECT 1 FROM authserve.contents WHERE event = id)
  AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE event = id)
ORDER BY id LIMIT $3`;

/** The first event received since a time and up to a number: since, number. See the one of SQLite. */
const FIRST_SINCE = `
SELECT id FROM authserve.events
WHERE id >= least((SELECT min(first_event) FROM authserve.events_by_minute WHERE minute >= $1::bigint / 60000),
  (SELECT min(event) FROM authserve.unrouted), $2 + 1) AND id <= $2 AND received_at >= $1
ORDER BY id LIMIT 1`;

/** The last number that was given to an event, also to one that is not committed or never will be. */
const LAST_NUMBER = `SELECT CASE WHEN is_called THEN last_value ELSE 0 END AS last FROM authserve.events_id_seq`;

/**
 * The transactions that write events. Each locks the table before it takes its first number, and keeps the lock until
 * its rows are visible or gone.
 */
const WRITERS = `
SELECT virtualtransaction AS writer FROM pg_locks
WHERE locktype = 'relation' AND relation = 'authserve.events'::regclass AND mode = 'RowExclusiveLock' AND granted
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;

const FIRST_WAIT_MS = 5;
const LONGEST_WAIT_MS = 100;
/** A writer that takes longer hangs. Nothing behind its numbers is read until it ends. */
const PATIENCE_MS = 1000;

/**
 * Reads events in order of arrival. Numbers become visible out of order, because several servers commit at a time. So a
 * read goes up to a number that every transaction has ended with that may have taken a smaller one. The oldest running
 * transaction would not tell: it may be one of another program, and it has no id yet when it takes a number.
 */
export function eventArrivals(postgres: Postgres): Pick<EventStore, "arrivals" | "arrivalsSince"> {
  /** The last result of {@link completeEnd}. */
  let known = 0;

  const writers = async () => (await postgres.rows<{ writer: string }>(WRITERS)).map(({ writer }) => writer);

  /** The number up to which no event can appear any more. Null if a writer hangs. */
  async function completeEnd(): Promise<number | null> {
    const [{ last } = { last: 0 }] = await postgres.rows<{ last: number }>(LAST_NUMBER);
    if (last === known) return known;
    const givesUpAt = performance.now() + PATIENCE_MS;
    let running = new Set(await writers());
    for (let waitMs = FIRST_WAIT_MS; running.size > 0; waitMs = Math.min(2 * waitMs, LONGEST_WAIT_MS)) {
      if (performance.now() > givesUpAt) return null;
      await delay(waitMs);
      running = running.intersection(new Set(await writers()));
    }
    known = last;
    return last;
  }

  return {
    async arrivals(after, limit) {
      const end = (await completeEnd()) ?? Math.max(known, after);
      if (end <= after) return { items: [], end };
      const items = await postgres.rows<Arrival>(NEXT, [after, end, limit]);
      return { items, end: items.length < limit ? end : (items.at(-1)?.id ?? end) };
    },
    async arrivalsSince(since) {
      const end = await completeEnd();
      if (end === null) throw new AppError("store_unavailable", { retryAfterSeconds: 1 });
      if (since === null) return end;
      const [first] = await postgres.rows<{ id: number }>(FIRST_SINCE, [since, end]);
      return first === undefined ? end : first.id - 1;
    },
  };
}
