import { setImmediate as nextTurn } from "node:timers/promises";

/** Wakes one loop, on request or at a time. */
export interface Wakeup {
  wake(): void;
  /** Wakes the loop at a time in Unix milliseconds, unless it wakes sooner. */
  wakeAt(time: number): void;
  /**
   * Resolves at the next wake, or at once if one came since the last wait. Wakes in one turn of the event loop count
   * once.
   */
  wait(): Promise<void>;
}

// Timers may fire a millisecond early, when nothing is due yet.
const TIMER_SLACK_MS = 2;

export function createWakeup(now: () => number): Wakeup {
  let isAwake = false;
  let resume = () => {};
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  function wake(): void {
    clearTimeout(timer);
    timerAt = Number.POSITIVE_INFINITY;
    isAwake = true;
    resume();
  }

  return {
    wake,
    wakeAt(time) {
      if (isAwake || time >= timerAt) return;
      clearTimeout(timer);
      timerAt = time;
      timer = setTimeout(wake, Math.max(0, time - now()) + TIMER_SLACK_MS);
    },
    async wait() {
      if (!isAwake) {
        await new Promise<void>((resolve) => {
          resume = resolve;
        });
      }
      await nextTurn();
      isAwake = false;
    },
  };
}
