import { repeat } from "../lib/repeat.ts";
import { cursorOf, type ListenFilter, type ListenPosition, mayHear, newestOf, positionOf } from "./listening.ts";
import type { Arrival, EventStore } from "./store.ts";

/** Events of other processes are found by looking this often. */
const LOOK_EVERY_MS = 1000;
/** The shortest time between two looks after events of this process. */
const LOOK_GAP_MS = 100;
const PAGE = 500;
/** The newest events. A listener that comes back does not read them again. */
const REMEMBERED = 2000;

interface Waiter {
  /** Behind events that it does not hear. */
  position: ListenPosition;
  filter: ListenFilter;
  resolve: () => void;
}

/** Creates a watch of a store. */
export function watchArrivals(store: Pick<EventStore, "arrivals" | "onWork">) {
  const waiters = new Set<Waiter>();
  let isStopped = false;
  /** What came behind `first`, up to `end`. */
  let recent: Arrival[] = [];
  let first = 0;
  let end = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  let soon: NodeJS.Timeout | undefined;

  /** Takes a waiter behind events that it does not hear. Returns whether there is one that it hears. */
  function pass(waiter: Waiter, events: readonly Arrival[]): boolean {
    const { position, filter } = waiter;
    const heard = events.findIndex((event) => event.id > position.event && mayHear(filter, event));
    const passed = heard === -1 ? events : events.slice(0, heard);
    const upTo = heard === -1 ? end : (events[heard]?.id ?? end) - 1;
    const event = Math.max(position.event, upTo);
    waiter.position = { event, receivedAt: newestOf(passed, position.receivedAt) };
    return heard !== -1;
  }

  function forget(upTo: number): void {
    recent = [];
    first = upTo;
    end = upTo;
  }

  async function readNew(): Promise<void> {
    for (;;) {
      const { items, end: next } = await store.arrivals(end, PAGE);
      if (next < end) {
        // The store has lost events: listeners find out how to go on.
        forget(next);
        for (const { resolve } of waiters) resolve();
      }
      if (next <= end) return;
      end = next;
      recent.push(...items);
      const forgotten = recent.splice(0, Math.max(0, recent.length - REMEMBERED));
      first = forgotten.at(-1)?.id ?? first;
      for (const waiter of waiters) if (pass(waiter, items)) waiter.resolve();
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
    /**
     * Resolves when an event behind a cursor has come that the listener may hear. It also resolves at the time limit,
     * when the signal is aborted, and when the watch has stopped. Returns the cursor to go on from, behind events that
     * it does not hear.
     */
    wait(cursor: string, filter: ListenFilter, limitMs: number, signal: AbortSignal): Promise<string> {
      const position = positionOf(cursor);
      // Nobody has looked meanwhile.
      if (waiters.size === 0 && position.event > end) forget(position.event);
      return new Promise((resolve) => {
        const waiter: Waiter = { position, filter, resolve: done };
        const timer = setTimeout(done, limitMs).unref();
        function done(): void {
          waiters.delete(waiter);
          clearTimeout(timer);
          signal.removeEventListener("abort", done);
          resolve(cursorOf(waiter.position));
        }
        waiters.add(waiter);
        signal.addEventListener("abort", done);
        const isBehind = position.event < first;
        if (isStopped || signal.aborted || isBehind || pass(waiter, recent)) done();
        // An event may have come between the listener's read and now.
        else lookSoon();
      });
    },
    isStopped: () => isStopped,
    /** Ends all waits, also later ones. */
    stop(): void {
      isStopped = true;
      clearTimeout(soon);
      void looks.stop();
      for (const { resolve } of waiters) resolve();
    },
  };
}

/** Tells listeners of new events. Nothing is read while nobody waits. */
export type ArrivalWatch = ReturnType<typeof watchArrivals>;
