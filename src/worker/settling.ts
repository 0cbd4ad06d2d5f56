import { setTimeout as delay } from "node:timers/promises";
import { describeError } from "../errors.ts";
import type { ClaimedJob, Settlement } from "../events/job.ts";
import type { BuriedJob, EventStore } from "../events/store.ts";
import { createBatcher } from "../lib/batch.ts";
import type { Log } from "../log.ts";

/** Told of each attempt whose end is recorded; `isHeld` is false when its lease was lost, and with it the result. */
export type OnSettled = (job: ClaimedJob, settlement: Settlement, isHeld: boolean) => void;

export interface SettlingOptions {
  store: Pick<EventStore, "settle">;
  log: Log;
  onSettled: OnSettled;
  /** Told when an attempt has failed and when the next is due. */
  onRetry: (runAt: number) => void;
}

/** Records how attempts ended. */
export interface Settling {
  /** Resolves when the end of an attempt is recorded and logged. Throws only after {@link Settling.giveUp}. */
  settle(job: ClaimedJob, settlement: Settlement): Promise<void>;
  /** From now on a store that fails is not asked again. */
  giveUp(): void;
  /** Resolves when nothing is under way. */
  flush(): Promise<void>;
}

// A store that fails is asked again at this pace, so that a broken disk does not spin the loop.
export const STORE_RETRY_MS = 1000;

/** Records the ends of attempts in shared transactions. A store that fails is asked again: what was done is not done twice. */
export function createSettling({ store, log, onSettled, onRetry }: SettlingOptions): Settling {
  const settlements = createBatcher((batch: Settlement[]) => store.settle(batch));
  let isEnding = false;

  async function record(job: ClaimedJob, settlement: Settlement): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await settlements.add(settlement);
      } catch (error) {
        if (isEnding) throw error;
        if (tries === 1) logFailure(log, job, error, "an attempt could not be recorded; trying again until it can");
        await delay(STORE_RETRY_MS);
      }
    }
  }

  return {
    async settle(job, settlement) {
      const isHeld = await record(job, settlement);
      onSettled(job, settlement, isHeld);
      logSettlement(log, job, settlement, isHeld);
      if (isHeld && settlement.next.to === "queued") onRetry(settlement.next.runAt);
    },
    giveUp() {
      isEnding = true;
    },
    flush: settlements.flush,
  };
}

function logSettlement(log: Log, job: ClaimedJob, settlement: Settlement, isHeld: boolean): void {
  const { next, startedAt, finishedAt, error } = settlement;
  if (!isHeld) {
    log.warn({ event: "lease_lost", ...labels(job) }, "the lease was lost: another worker has the event");
    return;
  }
  switch (next.to) {
    case "processed": {
      const durationMs = Math.max(0, finishedAt - startedAt);
      log.info({ event: "event_processed", ...labels(job), durationMs }, "event processed");
      break;
    }
    case "queued": {
      const runAt = new Date(next.runAt).toISOString();
      log.warn({ event: "event_retried", ...labels(job), error, runAt }, "attempt failed; will retry");
      break;
    }
    case "failed":
      logDeadLetter(log, { ...job, error });
  }
}

/** Writes the log line of something that could not be done for an event. */
export function logFailure(log: Log, job: ClaimedJob, error: unknown, message: string): void {
  log.error({ event: "worker_error", ...labels(job), error: describeError(error) }, message);
}

/** Writes the log line of a job that has become a dead letter. */
export function logDeadLetter(log: Log, job: Labels & { error: string | null }): void {
  const line = { event: "event_dead_lettered" as const, ...labels(job), error: job.error };
  log.error(line, "event dead-lettered: attempts are used up");
}

type Labels = Pick<BuriedJob, "source" | "eventId" | "type" | "attempt">;

function labels({ source, eventId, type, attempt }: Labels): Labels {
  return { source, eventId, type, attempt };
}
