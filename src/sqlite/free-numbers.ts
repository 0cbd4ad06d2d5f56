import { freeNumber, numbered } from "../events/free-number.ts";
import type { EventName } from "../events/store.ts";
import type { Database } from "./database.ts";
import { IS_TAKEN } from "./events-sql.ts";

/** Prepares the search for a number that is free behind an id that is taken. */
export function freeNumbers(database: Database): (event: EventName) => number {
  const isTaken = database.prepare(IS_TAKEN);

  return ({ eventId, source }) => {
    const search = freeNumber();
    let asked = search.next();
    while (!asked.done) asked = search.next(isTaken.get(numbered(eventId, asked.value), source) !== undefined);
    return asked.value;
  };
}
