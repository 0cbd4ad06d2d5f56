/**
 * A step that is to succeed once. Each call begins it, or waits for it while it is under way; one that has failed is tried
 * again by the next call. Once it has succeeded there is nothing to wait for any more.
 */
export function once(step: () => Promise<void>): () => Promise<void> | undefined {
  let isDone = false;
  let underWay: Promise<void> | undefined;

  async function run(): Promise<void> {
    try {
      await step();
      isDone = true;
    } finally {
      underWay = undefined;
    }
  }
  return () => {
    if (isDone) return undefined;
    underWay ??= run();
    return underWay;
  };
}
