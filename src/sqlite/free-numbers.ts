import { freeNumber, numbered } from "../events/free-number.ts";
import type { EventName } from "../events/store.ts";
import type { Database } from "./database.ts";

/** Prepares the search for a number that is free behind an id that is taken. */
export function freeNumbers(database: Database): (event: EventName) => number {
  const isTaken = database.prepare("SELECT 1 FROM events WHERE event_id = ? AND source = ?");

  return ({ eventId, source }) => {
    const search = freeNumber();
    let asked = search.next();
    while (!asked.done) asked = search.next(isTaken.get(numbered(eventId, asked.value), source) !== undefined);
    return asked.value;
  };
}
