import type { EventFilter, EventPage, EventSummary } from "../events/store.ts";
import type { Queries } from "./connection.ts";
import { LISTED } from "./lists-sql.ts";

// What one statement searches. It must end within the time limit of the connection, also on a slow disk.
const WINDOW = 1000;
const WINDOW_BYTES = 64 * 1024 * 1024;

const MAX_MS = 500;

/** The first event of a window: before this event, from this one on, events, bytes. One event always fits. */
const WINDOW_START = `
SELECT min(event) AS start FROM (
  SELECT event, row_number() OVER newest AS nth, sum(size) OVER newest AS bytes
  FROM (SELECT event FROM authserve.contents WHERE event < $1 AND event >= $2 ORDER BY event DESC LIMIT $3) AS earlier,
    LATERAL (SELECT size FROM authserve.events WHERE id = event LIMIT 1) AS found
  WINDOW newest AS (ORDER BY event DESC ROWS UNBOUNDED PRECEDING)) AS sized
WHERE nth = 1 OR bytes <= $4`;

/** The oldest event that a filter can list, and the newest one. */
export async function readListed(
  queries: Queries,
  { since }: EventFilter,
): Promise<{ oldest: number; newest: number }> {
  const [row] = await queries.rows<{ oldest: number; newest: number }>(LISTED, [since ?? null]);
  return row as { oldest: number; newest: number };
}

/** Lists the events whose payloads contain a text, newest first, for a limited time. `list` lists those of a window. */
export async function searchPayloads(
  queries: Queries,
  filter: EventFilter,
  list: (filter: EventFilter) => Promise<EventPage>,
): Promise<EventPage> {
  const deadline = performance.now() + MAX_MS;
  const { oldest: first, newest } = await readListed(queries, filter);
  const oldest = Math.max(first, Number(filter.after ?? 0) + 1);
  const items: EventSummary[] = [];
  let before = filter.before === undefined ? newest + 1 : Number(filter.before);
  while (before > oldest && performance.now() < deadline) {
    const [window] = await queries.rows<{ start: number | null }>(WINDOW_START, [before, oldest, WINDOW, WINDOW_BYTES]);
    const from = window?.start ?? oldest;
    const cursors = { before: String(before), after: String(from - 1) };
    const page = await list({ ...filter, ...cursors, limit: filter.limit - items.length });
    items.push(...page.items);
    before = page.older === null ? from : Number(page.older);
    if (items.length === filter.limit) break;
  }
  return { items, older: before > oldest ? String(before) : null, newer: String(newest) };
}
