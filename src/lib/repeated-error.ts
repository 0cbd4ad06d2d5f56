import { describeError } from "../errors.ts";

/**
 * Remembers the last error of a task that is repeated, so that an error is logged once for as long as it stays the
 * same.
 */
export interface RepeatedError {
  /** Returns the text of an error, or null if the last try failed with the same one. */
  news(error: unknown): string | null;
  /** The task has succeeded. */
  clear(): void;
}

/** Creates the memory of a task. */
export function createRepeatedError(): RepeatedError {
  let last: string | undefined;
  return {
    news(error) {
      const text = describeError(error);
      if (text === last) return null;
      last = text;
      return text;
    },
    clear() {
      last = undefined;
    },
  };
}
