import { type Signal, signal } from "@preact/signals";
import type { EventFilter, EventItem } from "../answers.ts";
import { hashOf } from "../place.ts";
import { listEvents } from "../requests.ts";
import { filterOf, filterQuery } from "./filter.ts";
import { createEventList, type EventList, eventKey } from "./list.ts";

/** A list with what the reader did to it. */
export interface OpenList {
  key: string;
  filter: EventFilter;
  list: EventList;
  /** The keys of the chosen events. */
  selected: Signal<ReadonlySet<string>>;
  /** Where the reader was when the view closed: the position, and the link with the focus. */
  scrollY: number;
  focused: string | null;
}

let kept: OpenList | null = null;

/** The query of the last list, for the way back to it. */
let lastQuery: Readonly<Record<string, string>> = {};

/** The link to the last list. */
export const lastListHref = () => hashOf(["events"], lastQuery);

/** What tells lists apart. */
export const listKey = (query: Readonly<Record<string, string>>) => JSON.stringify(filterQuery(query));

/** Opens the list of a query. The last one is kept: the way back from an event leads to the same place in it. */
export function openList(query: Readonly<Record<string, string>>): OpenList {
  const key = listKey(query);
  lastQuery = query;
  if (kept?.key === key) return kept;
  kept?.list.stop();
  const filter = filterOf(query, Date.now());
  const list: EventList = createEventList(
    (page, abort) =>
      listEvents({ ...filter, ...page, ...(page.cursor === undefined && recentOnly(filter, list)) }, abort),
    Date.now,
  );
  kept = { key, filter, list, selected: signal(new Set()), scrollY: 0, focused: null };
  return kept;
}

/** The events before and after one in the last list. */
export function neighboursOf(event: Pick<EventItem, "source" | "eventId">): { newer?: EventItem; older?: EventItem } {
  const rows = kept?.list.rows.value ?? [];
  const key = eventKey(event);
  const at = rows.findIndex((row) => eventKey(row) === key);
  const [newer, older] = at < 0 ? [] : [rows[at - 1], rows[at + 1]];
  return { ...(newer && { newer }), ...(older && { older }) };
}

/** Lets the next opening load the list anew. */
export function forgetList(): void {
  kept?.list.stop();
  kept = null;
}

const OVERLAP_MS = 60_000;

/** A search through all events every few seconds would load the server: only new events are searched. */
function recentOnly({ search, route }: EventFilter, { rows }: EventList): EventFilter {
  const newest = rows.value[0];
  if ((search ?? route) === undefined || newest === undefined) return {};
  return { since: new Date(Date.parse(newest.receivedAt) - OVERLAP_MS).toISOString() };
}
