import { OperatorError } from "../errors.ts";
import type { EventDetail, EventStore } from "../events/store.ts";
import { printable } from "../lib/printable.ts";

/** The id of an event, and its source if several sources have the id. */
interface OneEvent {
  eventId: string;
  source: string | undefined;
}

/** The event with this id, or null. Throws {@link OperatorError} if several sources have the id. */
export async function findEvent(events: EventStore, { eventId, source }: OneEvent): Promise<EventDetail | null> {
  const found = await events.get(eventId, source);
  if (found.length > 1) {
    const sources = found.map((one) => one.source).join(", ");
    throw new OperatorError({
      found: `${printable(eventId)} is in the sources ${sources}`,
      remedy: "choose one with --source",
    });
  }
  return found[0] ?? null;
}

/** The error for an id that no event has. */
export function noSuchEvent(eventId: string): OperatorError {
  // An id copied from the table may be escaped, which is not the id itself.
  const isEscaped = /\\u\{[0-9a-f]+\}/.test(eventId);
  const list = isEscaped ? "authserve events list --json" : "authserve events list";
  return new OperatorError({ found: `There is no event ${printable(eventId)}`, remedy: `run ${list} to see ids` }, 1);
}
