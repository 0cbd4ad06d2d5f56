import { setTimeout as delay } from "node:timers/promises";

/**
 * Runs something again after each failure, until it succeeds. `waitMs` gets the error and the number of tries, and
 * returns how long to wait, or throws what ends this. The signal ends a wait.
 */
export async function retry<T>(
  run: () => Promise<T>,
  waitMs: (error: unknown, tries: number) => number,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await run();
    } catch (error) {
      await delay(waitMs(error, tries), undefined, signal && { signal });
    }
  }
}
