import { performance } from "node:perf_hooks";

// A few commits long: one turn of the event loop alone is always busy.
const WINDOW_MS = 20;

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
