import { type Listed, searchWindows, WINDOW } from "../events/search-window.ts";
import type { EventFilter, EventPage } from "../events/store.ts";
import type { Queries } from "./connection.ts";
import { LISTED } from "./lists-sql.ts";

// One statement must end within the time limit of the connection, also on a slow disk.
const WINDOW_BYTES = 64 * 1024 * 1024;

/** The first event of a window: before this event, from this one on, events, bytes. One event always fits. */
const WINDOW_START = `
SELECT min(event) AS start FROM (
  SELECT event, row_number() OVER newest AS nth, sum(size) OVER newest AS bytes
  FROM (SELECT event FROM authserve.contents WHERE event < $1 AND event >= $2 ORDER BY event DESC LIMIT $3) AS earlier,
    LATERAL (SELECT size FROM authserve.events WHERE id = event LIMIT 1) AS found
  WINDOW newest AS (ORDER BY event DESC ROWS UNBOUNDED PRECEDING)) AS sized
WHERE nth = 1 OR bytes <= $4`;

/** The oldest event that a filter can list, and the newest one. */
export async function readListed(queries: Queries, { since }: EventFilter): Promise<Listed> {
  const [row] = await queries.rows<Listed>(LISTED, [since ?? null]);
  return row as Listed;
}

/** Lists the events whose payloads contain a text. `list` lists those of a window. */
export async function searchPayloads(
  queries: Queries,
  filter: EventFilter,
  list: (filter: EventFilter) => Promise<EventPage>,
): Promise<EventPage> {
  const windows = searchWindows(filter, await readListed(queries, filter));
  let step = windows.next();
  while (!step.done) {
    const { before, oldest, filterFrom } = step.value;
    const [window] = await queries.rows<{ start: number | null }>(WINDOW_START, [before, oldest, WINDOW, WINDOW_BYTES]);
    const from = window?.start ?? oldest;
    step = windows.next({ from, page: await list(filterFrom(from)) });
  }
  return step.value;
}
