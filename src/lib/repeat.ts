import { describeError } from "../errors.ts";

interface RepeatOptions<Result> {
  /** The wait after a turn. A function gets what the turn returned; undefined if it failed. */
  everyMs: number | ((result: Result | undefined) => number);
  /** The wait before the first turn, if it is another one. With 0 it begins at once. */
  firstMs?: number;
  /** Gets the text of an error, once for as long as it stays the same. The next turn tries again. */
  onError(error: string): void;
}

/** Does something again and again, on a clock that is never set. This does not keep the process alive. */
export function repeat<Result>(turn: () => Result | Promise<Result>, options: RepeatOptions<Result>) {
  const { everyMs, onError } = options;
  const fault = createRepeatedError();
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let isStopped = false;

  const waitAfter = (result?: Result) => (typeof everyMs === "number" ? everyMs : everyMs(result));

  async function run(): Promise<void> {
    let result: Result | undefined;
    try {
      result = await turn();
      fault.clear();
    } catch (cause) {
      const error = fault.news(cause);
      if (error !== null) onError(error);
    }
    if (!isStopped) schedule(waitAfter(result));
  }

  function schedule(afterMs: number): void {
    timer = setTimeout(() => {
      running = run();
    }, afterMs).unref();
  }

  const firstMs = options.firstMs ?? waitAfter();
  if (firstMs === 0) running = run();
  else schedule(firstMs);
  return {
    /** Resolves when the running turn has ended. */
    ended: () => running,
    /** Begins no other turn. Resolves when the running one has ended. */
    async stop(): Promise<void> {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Something that is done every so often, one turn at a time. */
export type Repetition = ReturnType<typeof repeat>;

/**
 * Remembers the last error of a task that is repeated, so that an error is logged once for as long as it stays the
 * same.
 */
export function createRepeatedError() {
  let last: string | undefined;
  return {
    /** Returns the text of an error, or null if the last try failed with the same one. */
    news(error: unknown): string | null {
      const text = describeError(error);
      if (text === last) return null;
      last = text;
      return text;
    },
    /** The task has succeeded. */
    clear(): void {
      last = undefined;
    },
  };
}

/** What {@link createRepeatedError} creates. */
export type RepeatedError = ReturnType<typeof createRepeatedError>;
