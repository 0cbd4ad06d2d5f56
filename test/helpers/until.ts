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

/** Resolves with the condition's first truthy value. Rejects if there is none before the deadline. */
export async function until<T>(condition: () => T | Promise<T>, deadlineMs = HANG_MS): Promise<NonNullable<T>> {
  const givesUpAt = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (performance.now() >= givesUpAt) throw new Error(`the condition did not hold within ${deadlineMs} ms`);
    await delay(5);
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
