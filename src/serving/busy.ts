import { performance } from "node:perf_hooks";

// A few commits long: one turn of the event loop alone is always busy.
const WINDOW_MS = 20;

/**
 * Tells whether this thread's event loop was at work for more than a share of the time since it was last asked, or of the
 * last 20 ms of that it was asked for.
 */
export function createBusy(share: number): () => boolean {
  let start = performance.eventLoopUtilization();
  let busy = false;
  return () => {
    const { active, idle, utilization } = performance.eventLoopUtilization(start);
    if (active + idle >= WINDOW_MS) {
      busy = utilization > share;
      start = performance.eventLoopUtilization();
    }
    return busy;
  };
}
