import { AppError } from "../errors.ts";

/** The place of a task among those that wait. */
export interface Rank {
  /** Preferred tasks have their own queue and run before all others. */
  isPreferred: boolean;
  /** The sender of the task. A sender's share of the queue is limited. */
  sender: string;
}

/** How many tasks may run and wait. */
interface ConcurrencyBounds {
  /** Tasks that run at once. */
  width: number;
  /** Tasks that wait in each of the two queues. */
  queueLimit: number;
  /** Waiting tasks of one sender in each queue. The default is `queueLimit`. */
  queueLimitPerSender?: number;
}

const ANYBODY: Rank = { isPreferred: false, sender: "" };

interface Waiting {
  sender: string;
  start: () => void;
}

/** Creates a concurrency limit. */
export function createConcurrencyLimit(bounds: ConcurrencyBounds) {
  const { width, queueLimit, queueLimitPerSender = queueLimit } = bounds;
  const preferred: Waiting[] = [];
  const others: Waiting[] = [];
  let running = 0;

  function wait({ isPreferred, sender }: Rank): Promise<void> {
    const queue = isPreferred ? preferred : others;
    const own = queue.filter((one) => one.sender === sender).length;
    if (queue.length >= queueLimit || own >= queueLimitPerSender) {
      throw new AppError("login_busy", { retryAfterSeconds: 1 });
    }
    return new Promise((start) => queue.push({ sender, start }));
  }

  return {
    /** Runs the task when a place is free. Throws `login_busy` at once when its queue is full. */
    async run<T>(task: () => Promise<T>, rank: Rank = ANYBODY): Promise<T> {
      // A task that ends passes its place on, so `running` does not change.
      if (running >= width) await wait(rank);
      else running++;
      try {
        return await task();
      } finally {
        const next = preferred.shift() ?? others.shift();
        if (next) next.start();
        else running--;
      }
    },
  };
}

/** Runs a limited number of tasks at once, preferred ones first, in order of arrival. The queues are limited too. */
export type ConcurrencyLimit = ReturnType<typeof createConcurrencyLimit>;
