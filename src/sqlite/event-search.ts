import { searchWindows, WINDOW } from "../events/search-window.ts";
import type { EventFilter, EventPage } from "../events/store.ts";
import type { Database } from "./database.ts";
import * as lists from "./lists-sql.ts";

/** Lists the events whose payloads contain a text. `list` lists those of a window. */
export function payloadSearch(database: Database, list: (filter: EventFilter) => EventPage) {
  const oldestListed = database.prepare<{ since: number | null }, number>(lists.OLDEST_LISTED).pluck();
  const newestEvent = database.prepare<[], number>(lists.NEWEST).pluck();

  return (filter: EventFilter): EventPage => {
    const oldest = oldestListed.get({ since: filter.since ?? null }) as number;
    const windows = searchWindows(filter, { oldest, newest: newestEvent.get() as number });
    let step = windows.next();
    while (!step.done) {
      const from = Math.max(step.value.oldest, step.value.before - WINDOW);
      step = windows.next({ from, page: list(step.value.filterFrom(from)) });
    }
    return step.value;
  };
}
