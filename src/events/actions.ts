import type { CountedPage, EventDetail, EventName, EventStore, JobFilter, PageRequest } from "./store.ts";
import { type Untaken, whyNotDiscarded, whyNotReplayed, whyNotRerouted } from "./untaken.ts";

/** What is done to events. Each method returns the number of jobs, or of events, that it has changed. */
export interface Action<Reason extends string = Untaken> {
  one(event: EventName): Promise<number>;
  page(filter: JobFilter, page: PageRequest): Promise<CountedPage>;
  /** Why `one` has changed nothing. */
  whyNot(event: EventDetail): Reason;
}

/** Queues the failed jobs of events again. With `forgetsBodies`, what a route sends is made anew. */
export const replaying = (
  events: Pick<EventStore, "replay" | "replayAll">,
  now: () => number,
  forgetsBodies = false,
): Action => ({
  one: (event) => events.replay(event, now(), forgetsBodies),
  page: (filter, page) => events.replayAll(filter, now(), page, forgetsBodies),
  whyNot: whyNotReplayed,
});

/** Gives events to the present routes anew, whatever became of them. By id only. */
export const rerouting = (
  events: Pick<EventStore, "replay" | "replayAll" | "reroute" | "forgetSentBodies">,
  now: () => number,
  forgetsBodies = false,
): Action => ({
  ...replaying(events, now),
  async one(event) {
    if (forgetsBodies) await events.forgetSentBodies(event);
    return Number(await events.reroute(event));
  },
  whyNot: whyNotRerouted,
});

/** The longest reason of a discard or an erasure, in characters. */
export const MAX_REASON = 1000;

/**
 * The reason of a discard or an erasure, without white space around it. Null if it is not usable: PostgreSQL stores no
 * U+0000.
 */
export function givenReason(text: string): string | null {
  const reason = text.trim();
  return reason === "" || text.length > MAX_REASON || reason.includes("\0") ? null : reason;
}

/** Discards the failed or queued jobs of events. */
export const discarding = (
  events: Pick<EventStore, "discard" | "discardAll">,
  reason: string,
  now: () => number,
): Action => ({
  one: (event) => events.discard(event, reason, now()),
  page: (filter, page) => events.discardAll(filter, reason, now(), page),
  whyNot: whyNotDiscarded,
});

/** What an action has done to events by id. */
export interface TakenNamed<Reason> {
  matched: number;
  refused: { eventId: string; reason: Reason }[];
}

/** Takes events by id. `find` returns an event, or why it is not taken. */
export async function takeNamed<Reason extends string>(
  action: Action<Reason>,
  ids: readonly string[],
  find: (eventId: string) => Promise<EventDetail | Reason>,
): Promise<TakenNamed<Reason>> {
  const taken: TakenNamed<Reason> = { matched: 0, refused: [] };
  for (const eventId of new Set(ids)) {
    const found = await find(eventId);
    if (typeof found === "string") taken.refused.push({ eventId, reason: found });
    else if ((await action.one(found)) > 0) taken.matched++;
    else taken.refused.push({ eventId, reason: action.whyNot(found) });
  }
  return taken;
}
