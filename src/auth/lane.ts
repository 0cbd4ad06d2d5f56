import { AppError } from "../errors.ts";

/** Whose turn it is among the tasks that wait. */
export interface Rank {
  /** Goes before all that are not preferred; those wait in a queue of their own. */
  isPreferred: boolean;
  /** Who sends the task: nobody fills the queue alone. */
  sender: string;
}

/** How many tasks a lane holds. */
export interface LaneBounds {
  /** Tasks that run at once. */
  width: number;
  /** Tasks that wait, of the preferred ones and of the others each. */
  queueLimit: number;
  /** Tasks of one sender among the others that wait; as many as may wait by default. */
  queueLimitPerSender?: number;
}

/** Runs tasks: the preferred ones first, and else in order of arrival. How many run at once is bounded, and so is how many wait. */
export interface Lane {
  /** Runs the task when a place is free. Throws `login_busy` at once when too many wait. */
  run<T>(task: () => Promise<T>, rank?: Rank): Promise<T>;
}

const ANYBODY: Rank = { isPreferred: false, sender: "" };

/** Creates a lane that nobody runs in yet. */
export function createLane({ width, queueLimit, queueLimitPerSender = queueLimit }: LaneBounds): Lane {
  const preferred: (() => void)[] = [];
  const others: (() => void)[] = [];
  /** How many of the others each sender has. */
  const waitingOf = new Map<string, number>();
  let running = 0;

  function wait({ isPreferred, sender }: Rank): Promise<void> {
    const queue = isPreferred ? preferred : others;
    const own = waitingOf.get(sender) ?? 0;
    if (queue.length >= queueLimit || (!isPreferred && own >= queueLimitPerSender)) {
      throw new AppError("login_busy", { retryAfterSeconds: 1 });
    }
    if (isPreferred) return new Promise((resolve) => preferred.push(resolve));
    waitingOf.set(sender, own + 1);
    return new Promise((resolve) => {
      others.push(() => {
        const left = (waitingOf.get(sender) ?? 0) - 1;
        if (left > 0) waitingOf.set(sender, left);
        else waitingOf.delete(sender);
        resolve();
      });
    });
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
        if (next) next();
        else running--;
      }
    },
  };
}
