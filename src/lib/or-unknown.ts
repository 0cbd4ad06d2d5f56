import { timeout } from "./timeout.ts";

const READ_TIMEOUT_MS = 1000;

/**
 * Makes a read return null, for unknown, when it fails or does not answer within a second. A read on a disk that hangs
 * cannot be stopped, so later calls wait for it and start no other one.
 */
export function orUnknown<T>(read: () => Promise<T>): () => Promise<T | null> {
  let running: Promise<T> | undefined;
  return () => {
    running ??= read().finally(() => {
      running = undefined;
    });
    return timeout(READ_TIMEOUT_MS, running, () => new Error("no answer")).catch(() => null);
  };
}
