interface BatchOptions {
  /** Batches that may run at once. */
  width?: number;
  /** A batch with this many items starts at once, instead of at the end of the turn of the event loop. */
  enough?: number;
}

/**
 * Groups single items into shared batches. While one batch runs, the next one fills. `run` gets each batch in order of
 * arrival, and must handle its own errors.
 */
export function createBatches<Item>(
  run: (items: Item[]) => Promise<void>,
  { width = 1, enough = Number.POSITIVE_INFINITY }: BatchOptions = {},
) {
  let waiting: Item[] = [];
  let running = 0;
  let scheduled = false;
  const idle: (() => void)[] = [];

  /** Starts the next batch at the end of this turn of the event loop, so that items of one turn share a batch. */
  function schedule(): void {
    if (scheduled || running >= width) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      startWith(1);
    });
  }

  /** Starts the next batch if it has this many items and fewer than `width` batches run. */
  function startWith(least: number): void {
    if (waiting.length >= least && running < width) void runBatch();
  }

  async function runBatch(): Promise<void> {
    const batch = waiting;
    waiting = [];
    running++;
    await run(batch);
    running--;
    if (waiting.length > 0) schedule();
    else if (running === 0) for (const resolve of idle.splice(0)) resolve();
  }

  return {
    /** Adds an item to the batch that starts next. */
    add(item: Item): void {
      waiting.push(item);
      startWith(enough);
      schedule();
    },
    /** Items whose batch has not started, in order of arrival. */
    get waiting() {
      return waiting;
    },
    /** Resolves when no item waits and no batch runs. */
    flush(): Promise<void> {
      if (running === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}

/** Groups single calls into shared ones. `run` returns a result for each item of a batch, in the same order. */
export function createBatcher<Item, Result>(run: (items: Item[]) => Promise<Result[]>) {
  interface Waiting {
    item: Item;
    resolve: (result: Result) => void;
    reject: (error: unknown) => void;
  }
  const batches = createBatches<Waiting>(async (batch) => {
    try {
      const results = await run(batch.map(({ item }) => item));
      for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  });
  return {
    /** Adds an item. Resolves with its own result, or rejects with its batch's error. */
    add: (item: Item) => new Promise<Result>((resolve, reject) => batches.add({ item, resolve, reject })),
    flush: batches.flush,
  };
}
