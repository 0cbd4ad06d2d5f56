/** Groups single calls into shared ones: while one batch is under way the next one fills. */
export interface Batcher<Item, Result> {
  /** Adds an item. Resolves with its own result, or rejects with its batch's error. */
  add(item: Item): Promise<Result>;
  /** Items that wait for their batch to start. */
  readonly waiting: number;
  /** Resolves when nothing waits and no batch is under way. */
  flush(): Promise<void>;
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Creates a batcher. `run` gets each batch in order of arrival and returns a result for each item, in the same order.
 * Up to `width` batches are under way at once.
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  width = 1,
): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let underWay = 0;
  let scheduled = false;
  const idle: (() => void)[] = [];

  /** Starts the next batch at the end of this turn of the event loop: what arrives in one turn shares it. */
  function schedule(): void {
    if (scheduled || underWay >= width) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      void runBatch();
    });
  }

  async function runBatch(): Promise<void> {
    const batch = waiting;
    waiting = [];
    underWay++;
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
    underWay--;
    if (waiting.length > 0) schedule();
    else if (underWay === 0) for (const resolve of idle.splice(0)) resolve();
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        schedule();
      });
    },
    get waiting() {
      return waiting.length;
    },
    flush() {
      if (underWay === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}
