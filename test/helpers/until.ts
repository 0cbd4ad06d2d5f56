import { setTimeout as delay } from "node:timers/promises";

/** Whether an operation succeeds now. */
export function isWell(operation: () => Promise<unknown>): Promise<boolean> {
  return operation().then(
    () => true,
    () => false,
  );
}

/**
 * When a test gives up waiting. It is for what hangs: a busy machine may take this long for what else takes a moment.
 */
export const HANG_MS = 60_000;

// Looking costs processor time, and a longer wait needs no quicker look.
const PAUSE_OF_WAIT = 0.05;
const MAX_PAUSE_MS = 100;

/** Resolves with the condition's first truthy value. Rejects if there is none before the deadline. */
export async function until<T>(condition: () => T | Promise<T>, deadlineMs = HANG_MS): Promise<NonNullable<T>> {
  const beganAt = performance.now();
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    const waitedMs = performance.now() - beganAt;
    if (waitedMs >= deadlineMs) throw new Error(`the condition did not hold within ${deadlineMs} ms`);
    await delay(Math.min(5 + PAUSE_OF_WAIT * waitedMs, MAX_PAUSE_MS));
  }
}

/** Resolves when the condition has not held for this long. Rejects as soon as it holds. */
export async function never(condition: () => boolean, forMs: number): Promise<void> {
  const endsAt = performance.now() + forMs;
  while (performance.now() < endsAt) {
    if (condition()) throw new Error("the condition held");
    await delay(5);
  }
}
