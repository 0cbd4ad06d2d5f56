/**
 * Makes a step run until it has succeeded once. A call starts the step, or waits for the running one. After a failure
 * the next call tries again. After success calls return undefined.
 */
export function once(step: () => Promise<void>): () => Promise<void> | undefined {
  let isDone = false;
  let running: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      await step();
      isDone = true;
    } finally {
      running = undefined;
    }
  }
  return () => {
    if (isDone) return undefined;
    running ??= run();
    return running;
  };
}
