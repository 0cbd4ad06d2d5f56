import { AppError } from "../errors.ts";
import type { EventDetail, EventStore } from "../events/store.ts";

/** The event with this id. Throws `not_found`, and `ambiguous_event` if several sources have the id. */
export async function findEvent(
  events: Pick<EventStore, "get">,
  eventId: string,
  source: string | undefined,
): Promise<EventDetail> {
  const [event, ...others] = await events.get(eventId, source);
  if (!event) throw new AppError("not_found");
  if (others.length === 0) return event;
  const sources = [event, ...others].map((one) => one.source).join(", ");
  throw new AppError("ambiguous_event", { errors: [{ path: "source", message: `is needed: one of ${sources}` }] });
}
