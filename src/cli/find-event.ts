import { OperatorError } from "../errors.ts";
import type { EventDetail, EventStore } from "../events/store.ts";
import { printable } from "../lib/printable.ts";

/** Which event of which source is meant. */
export interface OneEvent {
  eventId: string;
  source: string | undefined;
}

/** The event with this id; null when there is none. Throws {@link OperatorError} when two sources share the id. */
export async function findEvent(events: EventStore, { eventId, source }: OneEvent): Promise<EventDetail | null> {
  const found = await events.get(eventId, source);
  if (found.length > 1) {
    throw new OperatorError(
      `${printable(eventId)} is in the sources ${found.map((one) => one.source).join(", ")}: name one with --source`,
    );
  }
  return found[0] ?? null;
}
