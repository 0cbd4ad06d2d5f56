import { OperatorError } from "../errors.ts";
import type { EventName, EventStore } from "../events/store.ts";
import { printable } from "../lib/printable.ts";

/** The id of an event or its beginning, and its source if several sources have the id. */
interface OneEvent {
  eventId: string;
  source: string | undefined;
}

/** Where an event is looked for. */
export interface ReadEvents<Found extends EventName> extends Pick<EventStore, "startingWith"> {
  get(eventId: string, source?: string): Promise<Found[]>;
}

// A shorter one would often be a mistake.
const SHORTEST_BEGINNING = 4;
const MOST_NAMED = 5;

/**
 * The event with this id, or the only one whose id begins so; null if there is none. Throws {@link OperatorError} if
 * there are several.
 */
export async function findEvent<Found extends EventName>(
  events: ReadEvents<Found>,
  { eventId, source }: OneEvent,
): Promise<Found | null> {
  const found = await events.get(eventId, source);
  if (found.length > 1) throw inSeveralSources(eventId, found);
  if (found[0]) return found[0];
  const name = await findName(events, { eventId, source });
  const [event = null] = name === null ? [] : await events.get(name.eventId, name.source);
  return event;
}

/** The name of the only event whose id is this or begins so. Null, and throws, as {@link findEvent}. */
export async function findName(
  events: Pick<EventStore, "startingWith">,
  { eventId, source }: OneEvent,
): Promise<EventName | null> {
  if (eventId.length < SHORTEST_BEGINNING) return null;
  const begun = await events.startingWith(eventId, source, MOST_NAMED + 1);
  const same = begun.filter((name) => name.eventId === eventId);
  const names = same.length > 0 ? same : begun;
  const [name, ...others] = names;
  if (!name) return null;
  if (others.some((other) => other.eventId !== name.eventId)) throw isAmbiguous(eventId, names);
  if (others.length > 0) throw inSeveralSources(name.eventId, names);
  return name;
}

function inSeveralSources(eventId: string, found: readonly EventName[]): OperatorError {
  const sources = found.map(({ source }) => source).join(", ");
  const remedy = "choose one with --source";
  return new OperatorError({ found: `${printable(eventId)} is in the sources ${sources}`, remedy });
}

function isAmbiguous(beginning: string, found: readonly EventName[]): OperatorError {
  const ids = found.slice(0, MOST_NAMED).map(({ eventId }) => printable(eventId));
  const more = found.length > MOST_NAMED ? " and others" : "";
  return new OperatorError({
    found: `Several ids begin with ${printable(beginning)}: ${ids.join(", ")}${more}`,
    remedy: "give more of the id",
  });
}

/** The error for an id that no event has. */
export function noSuchEvent(eventId: string): OperatorError {
  // An id copied from the table may be escaped, which is not the id itself.
  const isEscaped = /\\u\{[0-9a-f]+\}/.test(eventId);
  const list = isEscaped ? "authserve events list --json" : "authserve events list";
  return new OperatorError({ found: `There is no event ${printable(eventId)}`, remedy: `run ${list} to see ids` }, 1);
}
