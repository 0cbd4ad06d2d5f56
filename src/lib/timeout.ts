/** Settles as `work` does, or rejects with the error of `onTimeout` after `ms`. The work itself is not stopped. */
export async function timeout<T>(ms: number, work: Promise<T>, onTimeout: () => Error): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(onTimeout()), ms);
  });
  return Promise.race([work, deadline]).finally(() => clearTimeout(timer));
}

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
