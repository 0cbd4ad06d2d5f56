import { setImmediate as nextTurn } from "node:timers/promises";

/** Wakes one loop: when it is told to, or at a time. */
export interface Alarm {
  ring(): void;
  /** Rings at a time, in Unix milliseconds, unless it rings sooner for another reason. */
  ringAt(time: number): void;
  /** Resolves when the alarm rings, or has rung since this was last called; what rings in one turn counts once. */
  rung(): Promise<void>;
}

// Timers may fire a millisecond early, and then nothing would be due yet.
const TIMER_SLACK_MS = 2;

export function createAlarm(now: () => number): Alarm {
  let hasRung = false;
  let wake = () => {};
  let timer: NodeJS.Timeout | undefined;
  let timerAt = Number.POSITIVE_INFINITY;

  function ring(): void {
    clearTimeout(timer);
    timerAt = Number.POSITIVE_INFINITY;
    hasRung = true;
    wake();
  }

  return {
    ring,
    ringAt(time) {
      if (hasRung || time >= timerAt) return;
      clearTimeout(timer);
      timerAt = time;
      timer = setTimeout(ring, Math.max(0, time - now()) + TIMER_SLACK_MS);
    },
    async rung() {
      if (!hasRung) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      await nextTurn();
      hasRung = false;
    },
  };
}
