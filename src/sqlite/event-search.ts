import type { EventFilter, EventPage, EventSummary } from "../events/store.ts";
import type { Database } from "./database.ts";
import * as lists from "./lists-sql.ts";

// Events whose payloads are searched in one snapshot. A long one would let the write-ahead log grow.
const WINDOW = 1000;

const MAX_MS = 500;

/** Lists the events whose payloads contain a text, newest first, for a limited time. `list` lists those of a window. */
export function payloadSearch(database: Database, list: (filter: EventFilter) => EventPage) {
  const oldestListed = database.prepare(lists.OLDEST_LISTED).pluck();
  const newestEvent = database.prepare(lists.NEWEST).pluck();

  return (filter: EventFilter): EventPage => {
    const deadline = performance.now() + MAX_MS;
    const newest = newestEvent.get() as number;
    const oldest = Math.max(oldestListed.get({ since: filter.since ?? null }) as number, Number(filter.after ?? 0) + 1);
    const items: EventSummary[] = [];
    let before = filter.before === undefined ? newest + 1 : Number(filter.before);
    while (before > oldest && performance.now() < deadline) {
      const from = Math.max(oldest, before - WINDOW);
      const window = { ...filter, before: String(before), after: String(from - 1), limit: filter.limit - items.length };
      const page = list(window);
      items.push(...page.items);
      before = page.older === null ? from : Number(page.older);
      if (items.length === filter.limit) break;
    }
    return { items, older: before > oldest ? String(before) : null, newer: String(newest) };
  };
}
