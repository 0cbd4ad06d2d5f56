import { AppError } from "../errors.ts";

/** Whose turn it is among the tasks that wait. */
export interface Rank {
  /** Goes before all that are not preferred; those wait in a queue of their own. */
  isPreferred: boolean;
  /** Who sends the task: nobody fills the queue alone. */
  sender: string;
}

/** How many tasks may run, and wait. */
export interface ConcurrencyBounds {
  /** Tasks that run at once. */
  width: number;
  /** Tasks that wait, of the preferred ones and of the others each. */
  queueLimit: number;
  /** Tasks of one sender in each of the two; as many as may wait by default. */
  queueLimitPerSender?: number;
}

/** Runs tasks: the preferred ones first, and else in order of arrival. How many run at once is bounded, and so is how many wait. */
export interface ConcurrencyLimit {
  /** Runs the task when a place is free. Throws `login_busy` at once when too many wait. */
  run<T>(task: () => Promise<T>, rank?: Rank): Promise<T>;
}

const ANYBODY: Rank = { isPreferred: false, sender: "" };

interface Waiting {
  sender: string;
  start: () => void;
}

/** Creates a limit under which nothing runs yet. */
export function createConcurrencyLimit(bounds: ConcurrencyBounds): ConcurrencyLimit {
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
    async run(task, rank = ANYBODY) {
      // Whoever leaves hands its place over, so `running` stays as it is.
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
