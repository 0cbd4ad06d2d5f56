import type { CountedPage, EventStore, Work } from "./store.ts";

const isAny = (count: number) => count > 0;
const isAnyIn = ({ count }: CountedPage) => count > 0;
const isTrue = (result: boolean) => result;
const isSome = (result: unknown) => result !== null;

/** Notifies listeners of work that comes through this store. Work of other processes is found by polling. */
export function withWakeUps(events: Omit<EventStore, "onWork">): EventStore {
  const listeners: ((work: Work) => void)[] = [];

  /** Makes a method tell the listeners of work. */
  function notifying<Args extends unknown[], Result>(
    run: (...args: Args) => Promise<Result>,
    work: Work,
    hasWork: (result: Result) => boolean,
  ): (...args: Args) => Promise<Result> {
    return async (...args) => {
      const result = await run(...args);
      if (hasWork(result)) for (const listener of listeners) listener(work);
      return result;
    };
  }

  return {
    ...events,
    append: notifying(events.append, "events", (results) => results.some(({ duplicate }) => !duplicate)),
    replay: notifying(events.replay, "jobs", isAny),
    replayAll: notifying(events.replayAll, "jobs", isAnyIn),
    replayConflict: notifying(events.replayConflict, "events", isTrue),
    replayRepeat: notifying(events.replayRepeat, "events", isSome),
    reroute: notifying(events.reroute, "jobs", isTrue),
    discard: notifying(events.discard, "jobs", isAny),
    discardAll: notifying(events.discardAll, "jobs", isAnyIn),
    tryRoute: notifying(events.tryRoute, "jobs", isTrue),
    resumeRoute: notifying(events.resumeRoute, "jobs", isTrue),
    onWork(listener) {
      listeners.push(listener);
    },
  };
}
