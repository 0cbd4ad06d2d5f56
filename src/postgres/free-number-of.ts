import { freeNumber, numbered } from "../events/free-number.ts";
import type { EventName } from "../events/store.ts";
import type { Queries } from "./connection.ts";

const IS_TAKEN = `SELECT FROM authserve.events WHERE source = $1 AND event_id = $2`;

/** Finds a number that is free behind an id that is taken. */
export async function freeNumberOf(queries: Queries, { source, eventId }: EventName): Promise<number> {
  const search = freeNumber();
  let asked = search.next();
  while (!asked.done) {
    const taken = await queries.rows(IS_TAKEN, [source, numbered(eventId, asked.value)]);
    asked = search.next(taken.length > 0);
  }
  return asked.value;
}
