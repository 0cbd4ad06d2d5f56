/** Groups single items into shared batches: while one batch is under way the next one fills. */
export interface Batches<Item> {
  /** Adds an item to the batch that starts next. */
  add(item: Item): void;
  /** Items that wait for their batch to start, in their order. */
  readonly waiting: readonly Item[];
  /** Resolves when nothing waits and no batch is under way. */
  flush(): Promise<void>;
}

/** When batches start. */
interface BatchOptions {
  /** Batches that may be under way at once. */
  width?: number;
  /** A batch of so many items starts in the middle of a turn of the event loop. */
  enough?: number;
}

/** Groups items into batches. `run` gets each batch in order of arrival and must answer for its own errors. */
export function createBatches<Item>(
  run: (items: Item[]) => Promise<void>,
  { width = 1, enough = Number.POSITIVE_INFINITY }: BatchOptions = {},
): Batches<Item> {
  let waiting: Item[] = [];
  let underWay = 0;
  let scheduled = false;
  const idle: (() => void)[] = [];

  /** Starts the next batch at the end of this turn of the event loop: what arrives in one turn shares it. */
  function schedule(): void {
    if (scheduled || underWay >= width) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      startWith(1);
    });
  }

  /** Starts the next batch if so many items wait for it, and it may. */
  function startWith(least: number): void {
    if (waiting.length >= least && underWay < width) void runBatch();
  }

  async function runBatch(): Promise<void> {
    const batch = waiting;
    waiting = [];
    underWay++;
    await run(batch);
    underWay--;
    if (waiting.length > 0) schedule();
    else if (underWay === 0) for (const resolve of idle.splice(0)) resolve();
  }

  return {
    add(item) {
      waiting.push(item);
      startWith(enough);
      schedule();
    },
    get waiting() {
      return waiting;
    },
    flush() {
      if (underWay === 0 && waiting.length === 0) return Promise.resolve();
      return new Promise((resolve) => idle.push(resolve));
    },
  };
}

/** Groups single calls into shared ones. */
export interface Batcher<Item, Result> {
  /** Adds an item. Resolves with its own result, or rejects with its batch's error. */
  add(item: Item): Promise<Result>;
  /** Resolves when nothing waits and no batch is under way. */
  flush(): Promise<void>;
}

/** Creates a batcher. `run` returns a result for each item of a batch, in the same order. */
export function createBatcher<Item, Result>(run: (items: Item[]) => Promise<Result[]>): Batcher<Item, Result> {
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
    add: (item) => new Promise((resolve, reject) => batches.add({ item, resolve, reject })),
    flush: batches.flush,
  };
}
