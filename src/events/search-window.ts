import type { EventFilter, EventPage } from "./store.ts";
import { isTypeList } from "./type-list.ts";

/** Events whose contents are searched at once. On SQLite a longer read would let the write-ahead log grow. */
export const WINDOW = 1000;

/** Events that are searched at once for jobs of a route or with an error, or for a list of types: by no index. */
export const JOBS_WINDOW = 20_000;

/** Whether a list is searched window by window, because no index leads to what it lists. */
export const isSearched = ({ search, route, error, type = "" }: SearchedMembers) =>
  search !== undefined || route !== undefined || error !== undefined || isTypeList(type);

type SearchedMembers = { [Name in "search" | "route" | "error" | "type"]?: string | undefined };

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

/** The first page of a search has the events with exactly this id, which an index finds. Null for other lists. */
export const namedBySearch = ({ search, ...filter }: EventFilter): EventFilter | null =>
  search === undefined || filter.before !== undefined ? null : { ...filter, eventId: search };

/**
 * Searches events, newest first, for a limited time. Yields one window after another, and takes what it has. `named`
 * come before them.
 */
export function* searchWindows(
  filter: EventFilter,
  listed: Listed,
  named: EventPage["items"] = [],
): Generator<Window, EventPage, Searched> {
  const deadline = performance.now() + MAX_MS;
  const oldest = Math.max(listed.oldest, Number(filter.after ?? 0) + 1);
  const items = [...named];
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
