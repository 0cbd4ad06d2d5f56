import { OperatorError } from "../errors.ts";
import type { EventName } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { ids } from "../operations/events.ts";
import type { Perform } from "./operate.ts";

// A shorter one would often be a mistake.
const SHORTEST_BEGINNING = 4;
const MOST_NAMED = 5;

/**
 * The name of the event with this id, or of the only one whose id begins so; null if there is none. `source` is needed
 * if several sources have the id. Throws {@link OperatorError} if there are several.
 */
export async function findEvent(
  perform: Perform,
  { eventId, source }: { eventId: string; source: string | undefined },
): Promise<EventName | null> {
  if (eventId === "") return null;
  const { items: begun } = await perform(ids, { prefix: eventId, source });
  const same = begun.filter((name) => name.eventId === eventId);
  const [name, ...others] = same.length > 0 || eventId.length < SHORTEST_BEGINNING ? same : begun;
  if (!name) return null;
  if (others.some((other) => other.eventId !== name.eventId)) throw isAmbiguous(eventId, [name, ...others]);
  if (others.length > 0) throw inSeveralSources(name.eventId, [name, ...others]);
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
