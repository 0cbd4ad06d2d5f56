import type { EventFilter, EventPage, EventSummary } from "../events/store.ts";
import type { Queries } from "./connection.ts";
import { LISTED } from "./lists-sql.ts";

// Events whose payloads one statement searches.
const WINDOW = 1000;

const MAX_MS = 500;

/** Lists the events whose payloads contain a text, newest first, for a limited time. `list` lists those of a window. */
export async function searchPayloads(
  queries: Queries,
  filter: EventFilter,
  list: (filter: EventFilter) => Promise<EventPage>,
): Promise<EventPage> {
  const deadline = performance.now() + MAX_MS;
  const [row] = await queries.rows<{ oldest: number; newest: number }>(LISTED, [filter.since ?? null]);
  const newest = row?.newest ?? 0;
  const oldest = Math.max(row?.oldest ?? 0, Number(filter.after ?? 0) + 1);
  const items: EventSummary[] = [];
  let before = filter.before === undefined ? newest + 1 : Number(filter.before);
  while (before > oldest && performance.now() < deadline) {
    const from = Math.max(oldest, before - WINDOW);
    const window = { ...filter, before: String(before), after: String(from - 1), limit: filter.limit - items.length };
    const page = await list(window);
    items.push(...page.items);
    before = page.older === null ? from : Number(page.older);
    if (items.length === filter.limit) break;
  }
  return { items, older: before > oldest ? String(before) : null, newer: String(newest) };
}
