import type { EventFilter, EventPage } from "./store.ts";

/** Events whose payloads are searched at once. On SQLite a longer read would let the write-ahead log grow. */
export const WINDOW = 1000;

/** Events whose jobs are searched at once for those of a route, or with an error: no index leads to these. */
export const JOBS_WINDOW = 20_000;

/** Whether a list is searched window by window, because no index leads to what it lists. */
export const isSearched = ({ search, route, error }: { [Name in "search" | "route" | "error"]?: string | undefined }) =>
  search !== undefined || route !== undefined || error !== undefined;

const MAX_MS = 500;

/** The events that a filter can list. Before fan-out an event is of no route. */
export interface Listed {
  oldest: number;
  newest: number;
}

/** Asks for the events of a window: as many before one as can be searched at once, none older than the oldest. */
interface Window {
  before: number;
  oldest: number;
  /** The filter of the events from one on. */
  filterFrom(from: number): EventFilter;
}

/** The events of a window that match, and its first event. */
interface Searched {
  from: number;
  page: EventPage;
}

/** Searches events, newest first, for a limited time. Yields one window after another, and takes what it has. */
export function* searchWindows(filter: EventFilter, listed: Listed): Generator<Window, EventPage, Searched> {
  const deadline = performance.now() + MAX_MS;
  const oldest = Math.max(listed.oldest, Number(filter.after ?? 0) + 1);
  const items: EventPage["items"] = [];
  let before = Math.min(listed.newest + 1, Number(filter.before ?? Infinity));
  while (before > oldest && items.length < filter.limit && performance.now() < deadline) {
    const window = { ...filter, before: String(before), limit: filter.limit - items.length };
    const { from, page } = yield { before, oldest, filterFrom: (from) => ({ ...window, after: String(from - 1) }) };
    items.push(...page.items);
    before = page.older === null ? from : Number(page.older);
  }
  const newer = Math.max(listed.newest, Number(filter.after ?? 0));
  return { items, older: before > oldest ? String(before) : null, newer: String(newer) };
}
