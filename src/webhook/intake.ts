import { createBatcher } from "../batch.ts";
import { AppError } from "../errors.ts";
import type { Appended, NewEvent } from "../events/store.ts";

/** Takes events in and resolves when they are on disk. */
export interface Intake {
  /** Throws `queue_full` at once when too much waits, `store_unavailable` when the commit fails. */
  append(event: NewEvent): Promise<Appended>;
  /** Resolves when nothing waits and no commit is under way. */
  flush(): Promise<void>;
}

export interface IntakeOptions {
  append: (batch: NewEvent[]) => Promise<Appended[]>;
  /** Events that may wait for a commit. */
  queueLimit: number;
  /** Told after each commit that stored something new. */
  onCommitted: () => void;
}

// Bounds memory when bodies are large: the same as 10,000 waiting events of 6.5 KB.
const MAX_WAITING_BYTES = 64 * 1024 * 1024;

// While the storage thread commits one batch the next ones already lie before it, so that it never waits for this thread.
const BATCHES_UNDER_WAY = 4;

/** Creates the intake: commits are grouped, and all waiters of a batch share its result. */
export function createIntake({ append, queueLimit, onCommitted }: IntakeOptions): Intake {
  let waitingBytes = 0;
  const commits = createBatcher<NewEvent, Appended>(async (batch) => {
    for (const { payload } of batch) waitingBytes -= payload.length;
    const results = await append(batch);
    if (results.some(({ duplicate }) => !duplicate)) onCommitted();
    return results;
  }, BATCHES_UNDER_WAY);

  return {
    append(event) {
      const full = commits.waiting >= queueLimit || waitingBytes + event.payload.length > MAX_WAITING_BYTES;
      if (full) return Promise.reject(new AppError("queue_full", { retryAfterSeconds: 1 }));
      waitingBytes += event.payload.length;
      return commits.add(event);
    },
    flush: commits.flush,
  };
}
