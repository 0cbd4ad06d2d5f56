import { performance } from "node:perf_hooks";

// Senders that wait go before events that do. Measured when a commit begins: 5 deliveries without an answer at 5,000 a
// second (12 at the 90th percentile), 47 with 64 connections that send as fast as they are answered.
const MANY_UNANSWERED = 32;

// Of this thread's time. With 64 connections that send as fast as they are answered it is 0.85; with 2,000 deliveries a
// second that wait 30 ms for a slow disk 0.2: those wait no longer because of what the worker does meanwhile.
const BUSY = 0.5;

// A few commits long: one turn of the event loop alone is always busy.
const WINDOW_MS = 20;

/** Tells whether senders wait who need the processor more than the worker does. */
export function yieldTo(intake: { readonly unanswered: number }): () => boolean {
  const isBusy = createBusy(BUSY);
  return () => intake.unanswered > MANY_UNANSWERED && isBusy();
}

/**
 * Tells whether this thread's event loop was at work for more than a share of the time since it was last asked; what it was
 * is told again within 20 ms.
 */
export function createBusy(share: number): () => boolean {
  let start = performance.eventLoopUtilization();
  let busy = false;
  return () => {
    const end = performance.eventLoopUtilization();
    const { active, idle, utilization } = performance.eventLoopUtilization(end, start);
    if (active + idle >= WINDOW_MS) {
      busy = utilization > share;
      start = end;
    }
    return busy;
  };
}

// As many events are claimed beyond the places as handlers begin in this time, which a trip to the store and back takes.
const AHEAD_MS = 5;
const MAX_AHEAD = 3;
/** Weight of the newest run in the average. */
const NEWEST = 0.1;
// Nothing is claimed ahead until runs have proved quick.
const ASSUMED_RUN_MS = 1000;

/** Tells how many events to claim beyond the free places, so that quick handlers need not wait for the next claim. */
export function createLookahead(concurrency: number): { noteRun(ms: number): void; events(): number } {
  let averageMs = ASSUMED_RUN_MS;
  return {
    noteRun(ms) {
      averageMs += NEWEST * (ms - averageMs);
    },
    events: () => Math.floor(Math.min(MAX_AHEAD, AHEAD_MS / averageMs) * concurrency),
  };
}
