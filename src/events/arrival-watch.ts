import { repeat } from "../lib/repeat.ts";
import { cursorOf, type ListenFilter, mayHear, newestOf, positionOf } from "./listening.ts";
import type { Arrival, EventStore } from "./store.ts";

/** Tells listeners of new events. Nothing is read while nobody waits. */
export interface ArrivalWatch {
  /**
   * Resolves when an event behind a cursor has come that the listener may hear. It also resolves at the time limit,
   * when the signal is aborted, and when the watch has stopped. Returns the cursor to go on from, behind events that it
   * does not hear.
   */
  wait(cursor: string, filter: ListenFilter, limitMs: number, signal: AbortSignal): Promise<string>;
  /** Ends all waits, also later ones. */
  stop(): void;
  isStopped(): boolean;
}

/** Events of other processes are found by looking this often. */
const LOOK_EVERY_MS = 1000;
/** The shortest time between two looks after events of this process. */
const LOOK_GAP_MS = 100;
const PAGE = 500;
/** The events that all listeners have in common, so that none of them reads the others' events. */
const REMEMBERED = 2000;

interface Waiter {
  after: number;
  filter: ListenFilter;
  resolve: () => void;
}

/** Creates a watch of a store. */
export function watchArrivals(store: Pick<EventStore, "arrivals" | "onWork">): ArrivalWatch {
  const waiters = new Set<Waiter>();
  let isStopped = false;
  /** What came behind `first`, up to `end`. */
  let recent: Arrival[] = [];
  let first = 0;
  let end = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;

  const isUnheard =
    ({ after, filter }: Waiter) =>
    (event: Arrival) =>
      event.id > after && mayHear(filter, event);
  const isHeard = (waiter: Waiter) => waiter.after < first || recent.some(isUnheard(waiter));

  /** The cursor behind what a waiter does not hear. */
  function cursorFor(waiter: Waiter, cursor: string): string {
    const { event, receivedAt } = positionOf(cursor);
    if (event < first || event >= end) return cursor;
    const heard = recent.findIndex(isUnheard(waiter));
    const passed = heard === -1 ? recent : recent.slice(0, heard);
    const last = heard === -1 ? end : (recent[heard]?.id ?? end) - 1;
    return cursorOf({ event: last, receivedAt: newestOf(passed, receivedAt) });
  }

  function wake(): void {
    for (const waiter of waiters) if (isHeard(waiter)) waiter.resolve();
  }

  /** The store has lost events: listeners find out how to go on. */
  function startAgain(from: number): void {
    forget(from);
    for (const { resolve } of waiters) resolve();
  }

  function forget(upTo: number): void {
    recent = [];
    first = upTo;
    end = upTo;
  }

  async function readNew(): Promise<void> {
    for (;;) {
      const found = await store.arrivals(end, PAGE);
      if (found.end < end) startAgain(found.end);
      if (found.end <= end) return;
      end = found.end;
      recent.push(...found.items);
      const forgotten = recent.splice(0, Math.max(0, recent.length - REMEMBERED));
      first = forgotten.at(-1)?.id ?? first;
      wake();
    }
  }

  /** Looks for new events, once at a time. An error is one of the next look, or of the listener's own read. */
  async function look(): Promise<void> {
    if (waiters.size === 0) return;
    lookedAt = performance.now();
    looking ??= readNew()
      .catch(() => {})
      .finally(() => {
        looking = undefined;
      });
    await looking;
  }

  function lookSoon(): void {
    if (waiters.size === 0 || soon !== undefined) return;
    const waitMs = Math.max(0, lookedAt + LOOK_GAP_MS - performance.now());
    soon = setTimeout(() => {
      soon = undefined;
      void look();
    }, waitMs).unref();
  }

  store.onWork((work) => {
    if (work === "events") lookSoon();
  });
  const looks = repeat(look, { everyMs: LOOK_EVERY_MS, onError: () => {} });

  return {
    wait(cursor, filter, limitMs, signal) {
      const { event: after } = positionOf(cursor);
      // Nobody has looked meanwhile.
      if (waiters.size === 0 && after > end) forget(after);
      return new Promise((resolve) => {
        const waiter: Waiter = { after, filter, resolve: done };
        const timer = setTimeout(done, limitMs).unref();
        function done(): void {
          waiters.delete(waiter);
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve(cursorFor(waiter, cursor));
        }
        waiters.add(waiter);
        signal.addEventListener("abort", done);
        if (isStopped || signal.aborted || isHeard(waiter)) done();
        // An event may have come between the listener's read and now.
        else lookSoon();
      });
    },
    isStopped: () => isStopped,
    stop() {
      isStopped = true;
      clearTimeout(soon);
      void looks.stop();
      for (const { resolve } of waiters) resolve();
    },
  };
}
