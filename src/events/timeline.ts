import { setRightAt, type WrongTime } from "./wrong-clock.ts";

/** What is known of the times around a page of events. All are Unix milliseconds. */
export interface TimesAround {
  /** The newest plausible time of the events shortly before the page; null if there are none. */
  earlier: number | null;
  /** The time of events well after the page; null if there are none. */
  later: number | null;
}

/** An event as a timeline sees it. */
interface TimedEvent {
  event: number;
  receivedAt: number;
}

/** How many events before a page are compared. */
export const COMPARED_BEFORE = 1000;
/**
 * How far after a page the events are that it is compared with, and how many they are: one may have a wrong time, too.
 */
export const COMPARED_AFTER = 10_000;
export const COMPARED_LATER = 100;

/** The time of an event. `isAhead`: the clock was ahead when the event was received, so that it counts as now. */
export interface PlausibleTime {
  at: number;
  isAhead: boolean;
}

/**
 * Returns a function that tells the time of each event of a page, in the order of the ids. Ids grow, so that an event
 * is no older than those before it and no newer than those after it. A clock that was ahead must not stop retention at
 * an event. One that was behind must not make an event too old at once: what came meanwhile counts as received when the
 * clock was set right, if that is known.
 */
export function createTimeline(
  { earlier, later }: TimesAround,
  wrongTimes: readonly WrongTime[],
  now: number,
): (event: TimedEvent) => PlausibleTime {
  const latest = Math.min(now, later ?? now);
  let newest = earlier !== null && earlier <= latest ? earlier : Number.NEGATIVE_INFINITY;
  return ({ event, receivedAt }) => {
    const rightAt = setRightAt(wrongTimes, event);
    if (receivedAt > latest || rightAt === null) return { at: now, isAhead: true };
    newest = Math.max(newest, receivedAt, rightAt ?? Number.NEGATIVE_INFINITY);
    return { at: newest, isAhead: false };
  };
}
