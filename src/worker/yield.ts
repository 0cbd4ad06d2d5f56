import { type EventLoopUtilization, performance } from "node:perf_hooks";

// Deliveries without a response, measured when a commit begins: 5 at 5,000 deliveries a second (12 at the 90th
// percentile), and 47 with 64 connections that send as fast as they are answered.
const MANY_UNANSWERED = 32;

// Share of this thread's time. It is 0.85 with 64 connections that send as fast as they are answered. It is 0.2 with
// 2,000 deliveries a second on a disk that takes 30 ms: yielding would not shorten their wait.
const BUSY = 0.5;

// A few commits long: within a single turn the event loop is always busy.
const WINDOW_MS = 20;

/** Creates the check whether the worker must yield to deliveries: many are unanswered, and this thread is busy. */
export function createMustYield(intake: { readonly unanswered: number }): () => boolean {
  const isBusy = createBusyCheck(BUSY);
  return () => intake.unanswered > MANY_UNANSWERED && isBusy();
}

/** How long an event loop was active and idle since its start, in ms. */
type LoopTimes = Pick<EventLoopUtilization, "active" | "idle">;

/**
 * Creates the check whether this thread's event loop was active for more than a share of the time since the last call.
 * Calls within 20 ms get the last result again.
 */
export function createBusyCheck(
  share: number,
  measure: () => LoopTimes = () => performance.eventLoopUtilization(),
): () => boolean {
  let start = measure();
  let busy = false;
  return () => {
    const end = measure();
    const active = end.active - start.active;
    const elapsed = active + end.idle - start.idle;
    if (elapsed >= WINDOW_MS) {
      busy = active > share * elapsed;
      start = end;
    }
    return busy;
  };
}
