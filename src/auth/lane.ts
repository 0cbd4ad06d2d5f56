import { AppError } from "../errors.ts";

/** Runs tasks in order of arrival. How many run at once is bounded, and so is how many wait. */
export interface Lane {
  /** Runs the task when a place is free. Throws `login_busy` at once when too many wait. */
  run<T>(task: () => Promise<T>): Promise<T>;
}

/** Creates a lane of `width` places with at most `queueLimit` tasks waiting. */
export function createLane(width: number, queueLimit: number): Lane {
  const waiting: (() => void)[] = [];
  let running = 0;

  return {
    async run(task) {
      if (running >= width) {
        if (waiting.length >= queueLimit) throw new AppError("login_busy", { retryAfterSeconds: 1 });
        // Whoever leaves hands its place over, so `running` stays as it is.
        await new Promise<void>((resolve) => waiting.push(resolve));
      } else {
        running++;
      }
      try {
        return await task();
      } finally {
        const next = waiting.shift();
        if (next) next();
        else running--;
      }
    },
  };
}
