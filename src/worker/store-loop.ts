import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { createRepeatedError } from "../lib/repeat.ts";
import { STORE_RETRY_MS } from "./settler.ts";

interface StoreLoopOptions {
  /** Returns when to run again, in Unix milliseconds; null if there is more to do now. */
  step: (isYielding: boolean) => Promise<number | null>;
  pollIntervalMs: number;
  mustYield: () => boolean;
  /** Called with the error of the step, once for as long as it stays the same. */
  onFault: (error: string) => void;
  now: () => number;
}

// Pause between two steps while deliveries need the processor more.
const YIELD_PAUSE_MS = 80;

/** Creates a loop, which repeats a step on the store when it is woken, and at the latest at each poll. */
export function createStoreLoop({ step, pollIntervalMs, mustYield, onFault, now }: StoreLoopOptions) {
  const wakeup = createWakeup(now);
  const fault = createRepeatedError();
  let isStopped = false;
  let loop: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!isStopped) {
      wakeup.wakeAt(await runSteps());
      await wakeup.wait();
    }
  }

  async function runSteps(): Promise<number> {
    try {
      while (!isStopped) {
        const isYielding = mustYield();
        const nextAt = await step(isYielding);
        if (isYielding) await delay(YIELD_PAUSE_MS);
        fault.clear();
        if (nextAt !== null) return Math.min(nextAt, now() + pollIntervalMs);
      }
      return now() + pollIntervalMs;
    } catch (cause) {
      const error = fault.news(cause);
      if (error !== null) onFault(error);
      return now() + Math.max(pollIntervalMs, STORE_RETRY_MS);
    }
  }

  return {
    wake: wakeup.wake,
    wakeAt: wakeup.wakeAt,
    start(): void {
      loop = run();
    },
    /** Resolves when the running step has ended. */
    async stop(): Promise<void> {
      isStopped = true;
      wakeup.wake();
      await loop;
    },
  };
}

// Timers may fire a millisecond early, when nothing is due yet.
const TIMER_SLACK_MS = 2;

/** Creates what wakes one loop, on request or at a time. */
function createWakeup(now: () => number) {
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
    /** Wakes the loop at a time in Unix milliseconds, unless it wakes sooner. */
    wakeAt(time: number): void {
      if (isAwake || time >= timerAt) return;
      clearTimeout(timer);
      timerAt = time;
      timer = setTimeout(wake, Math.max(0, time - now()) + TIMER_SLACK_MS);
    },
    /**
     * Resolves at the next wake, or at once if one came since the last wait. Wakes in one turn of the event loop count
     * once.
     */
    async wait(): Promise<void> {
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
