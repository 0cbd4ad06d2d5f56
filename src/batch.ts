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

/** Creates a batcher. `run` gets each batch in order of arrival and returns a result for each item, in the same order. */
export function createBatcher<Item, Result>(run: (items: Item[]) => Promise<Result[]>): Batcher<Item, Result> {
  let waiting: Waiting<Item, Result>[] = [];
  let running = false;
  let idle: (() => void)[] = [];

  async function runAll(): Promise<void> {
    running = true;
    // What arrives in the same turn of the event loop shares the first batch too.
    await new Promise(setImmediate);
    while (waiting.length > 0) {
      const batch = waiting;
      waiting = [];
      try {
        const results = await run(batch.map(({ item }) => item));
        for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    running = false;
    for (const resolve of idle) resolve();
    idle = [];
  }

  return {
    add(item) {
      return new Promise((resolve, reject) => {
        waiting.push({ item, resolve, reject });
        if (!running) void runAll();
      });
    },
    get waiting() {
      return waiting.length;
    },
    flush() {
      if (!running) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}
