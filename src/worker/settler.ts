import { describeError } from "../errors.ts";
import type { ClaimedJob, Settlement } from "../events/job.ts";
import type { DeadLetteredJob, EventStore } from "../events/store.ts";
import { createBatcher } from "../lib/batch.ts";
import { retry } from "../lib/retry.ts";
import type { Log } from "../log.ts";

/** Called after each recorded attempt. If `isLeased` is false, the lease was lost and the result was discarded. */
export type OnSettled = (job: ClaimedJob, settlement: Settlement, isLeased: boolean) => void;

interface SettlerOptions {
  store: Pick<EventStore, "settle">;
  log: Log;
  onSettled: OnSettled;
  /** Called when a job of a route is queued again, with its due time in Unix milliseconds. */
  onRetry: (route: string, runAt: number) => void;
}

/** Pause before a failed store call is retried, so that a broken disk does not spin the loop. */
export const STORE_RETRY_MS = 1000;

/** Creates the settler. Settlements share transactions. A failed one is retried, or the handler would run twice. */
export function createSettler({ store, log, onSettled, onRetry }: SettlerOptions) {
  const settlements = createBatcher((batch: Settlement[]) => store.settle(batch));
  let isRetrying = true;

  const record = (job: ClaimedJob, settlement: Settlement) =>
    retry(
      () => settlements.add(settlement),
      (error, tries) => {
        if (!isRetrying) throw error;
        if (tries === 1) logFailure(log, job, error, "an attempt could not be recorded; retrying");
        return STORE_RETRY_MS;
      },
    );

  return {
    /**
     * Resolves when the result of an attempt is recorded and logged. Throws only after {@link Settler.stopRetrying}.
     */
    async settle(job: ClaimedJob, settlement: Settlement): Promise<void> {
      const isLeased = await record(job, settlement);
      onSettled(job, settlement, isLeased);
      logSettlement(log, job, settlement, isLeased);
      if (isLeased && settlement.next.to === "queued") onRetry(job.route, settlement.next.runAt);
    },
    /** From now on, a settle that fails is not retried. */
    stopRetrying(): void {
      isRetrying = false;
    },
    /** Resolves when every settle has ended. */
    flush: settlements.flush,
  };
}

/** Records the results of attempts. */
export type Settler = ReturnType<typeof createSettler>;

function logSettlement(log: Log, job: ClaimedJob, settlement: Settlement, isLeased: boolean): void {
  const { next, startedAt, finishedAt, error } = settlement;
  if (!isLeased) {
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

/** Logs a store operation that failed for an event. */
export function logFailure(log: Log, job: ClaimedJob, error: unknown, message: string): void {
  log.error({ event: "worker_error", ...labels(job), error: describeError(error) }, message);
}

/** Logs a job that became a dead letter. */
export function logDeadLetter(log: Log, job: Labels & { error: string | null }): void {
  const line = { event: "event_dead_lettered" as const, ...labels(job), error: job.error };
  log.error(line, "event dead-lettered");
}

type Labels = Pick<DeadLetteredJob, "source" | "eventId" | "type" | "route" | "attempt">;

function labels({ source, eventId, type, route, attempt }: Labels): Labels {
  return { source, eventId, type, route, attempt };
}
