import { setTimeout as delay } from "node:timers/promises";

/** Whether an operation succeeds now. */
export function isWell(operation: () => Promise<unknown>): Promise<boolean> {
  return operation().then(
    () => true,
    () => false,
  );
}

/** Resolves with the condition's first truthy value. Rejects if there is none before the deadline. */
export async function until<T>(condition: () => T | Promise<T>, deadlineMs = 5000): Promise<NonNullable<T>> {
  const givesUpAt = performance.now() + deadlineMs;
  for (;;) {
    const value = await condition();
    if (value) return value as NonNullable<T>;
    if (performance.now() >= givesUpAt) throw new Error(`the condition did not hold within ${deadlineMs} ms`);
    await delay(5);
  }
}
