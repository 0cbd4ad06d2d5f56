import { createBatcher } from "../batch.ts";
import { describeError } from "../errors.ts";
import type { ClaimedEvent, EventStore, EventSummary, Settlement } from "../events/store.ts";
import type { Log } from "../log.ts";
import type { RetryPolicy } from "./backoff.ts";
import { decide, type Outcome } from "./decide.ts";
import { type EventHandler, Interruption, runEvent } from "./run-event.ts";

export interface WorkerOptions {
  store: Pick<EventStore, "claim" | "renew" | "settle">;
  handler: EventHandler;
  policy: RetryPolicy;
  /** Events in work at once. */
  concurrency: number;
  pollIntervalMs: number;
  handlerTimeoutMs: number;
  /** How long a claim holds without a sign of life; it is renewed at a third of this. */
  leaseMs?: number;
  /** Names this worker; no two live workers share a name. */
  owner: string;
  log: Log;
  now?: () => number;
  random?: () => number;
}

export interface Worker {
  start(): void;
  /** Says that new events are due: the worker looks at once. */
  nudge(): void;
  /** Claims nothing more, waits for what runs, and interrupts it after the deadline; interrupted events are queued again. */
  stop(deadlineMs: number): Promise<void>;
}

const DEFAULT_LEASE_MS = 30_000;

// A store that fails is asked again at this pace, so that a broken disk does not spin the loop.
const STORE_RETRY_MS = 1000;

/** Creates the worker: it claims due events, runs the handler on each, and settles them. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, handler, policy, concurrency, owner, log } = options;
  const { now = Date.now, random = Math.random, leaseMs = DEFAULT_LEASE_MS } = options;

  const running = new Set<Promise<void>>();
  const interruption = new AbortController();
  const settlements = createBatcher((batch: Settlement[]) => store.settle(batch));
  let timer: NodeJS.Timeout | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;
  let claiming = false;
  let nudged = false;
  let stopped = true;

  /** Looks again at a time, or sooner when something else asks for it. */
  function wakeAt(at: number): void {
    if (stopped || at >= wakesAt) return;
    clearTimeout(timer);
    wakesAt = at;
    timer = setTimeout(
      () => {
        wakesAt = Number.POSITIVE_INFINITY;
        void fill();
      },
      // Timers may fire a millisecond early, and then nothing would be due yet.
      Math.max(0, at - now()) + 2,
    );
  }

  /** Claims until every place is taken or nothing is due. */
  async function fill(): Promise<void> {
    nudged = true;
    if (claiming) return;
    claiming = true;
    let nextLookMs = options.pollIntervalMs;
    try {
      while (nudged && !stopped && running.size < concurrency) {
        nudged = false;
        const limit = concurrency - running.size;
        const { claimed, buried } = await store.claim({
          owner,
          limit,
          leaseMs,
          maxAttempts: policy.attempts,
          now: now(),
        });
        for (const event of buried) logDeadLetter(event, event.attempts, event.lastError);
        for (const event of claimed) begin(event);
        if (claimed.length + buried.length === limit) nudged = true;
      }
    } catch (error) {
      log.error({ event: "worker_error", error: describeError(error) }, "events could not be claimed");
      nextLookMs = Math.max(nextLookMs, STORE_RETRY_MS);
    } finally {
      claiming = false;
    }
    wakeAt(now() + nextLookMs);
  }

  function begin(event: ClaimedEvent): void {
    const work = process(event)
      .catch((error) =>
        log.error(
          { event: "worker_error", ...labels(event), error: describeError(error) },
          "an attempt could not be settled; its lease will run out",
        ),
      )
      .finally(() => {
        running.delete(work);
        if (!stopped) void fill();
      });
    running.add(work);
  }

  async function process(event: ClaimedEvent): Promise<void> {
    const { id, attempt } = event;
    const startedAt = now();
    const lost = new AbortController();
    const renewal = setInterval(async () => {
      const held = await store.renew({ id, owner, attempt }, leaseMs, now()).catch(() => true);
      if (!held) lost.abort(new Interruption("the lease was lost"));
    }, leaseMs / 3);
    let outcome: Outcome;
    try {
      outcome = await runEvent(
        handler,
        event,
        options.handlerTimeoutMs,
        AbortSignal.any([interruption.signal, lost.signal]),
      );
    } finally {
      clearInterval(renewal);
    }
    const finishedAt = now();
    const next = decide(outcome, event.attemptOfBudget, policy, finishedAt, random());
    const error = outcome.kind === "succeeded" ? null : outcome.error;
    const settled = await settlements.add({ id, owner, attempt, next, startedAt, finishedAt, error });
    if (!settled) {
      log.warn({ event: "lease_lost", ...labels(event) }, "the lease was lost: another worker has the event");
      return;
    }
    switch (next.to) {
      case "processed":
        log.info({ event: "event_processed", ...labels(event), durationMs: finishedAt - startedAt }, "event processed");
        break;
      case "queued":
        log.warn(
          { event: "event_retried", ...labels(event), error, runAt: new Date(next.runAt).toISOString() },
          "attempt failed; will retry",
        );
        wakeAt(next.runAt);
        break;
      case "failed":
        logDeadLetter(event, attempt, error);
    }
  }

  function labels({ source, eventId, type, attempt }: ClaimedEvent) {
    return { source, eventId, type, attempt };
  }

  function logDeadLetter(
    { source, eventId, type }: ClaimedEvent | EventSummary,
    attempt: number,
    error: string | null,
  ): void {
    log.error(
      { event: "event_dead_lettered", source, eventId, type, attempt, error },
      "event dead-lettered: attempts are used up",
    );
  }

  return {
    start() {
      stopped = false;
      void fill();
    },
    nudge() {
      if (!stopped) void fill();
    },
    async stop(deadlineMs) {
      stopped = true;
      clearTimeout(timer);
      const deadline = setTimeout(() => interruption.abort(new Interruption("the server stopped")), deadlineMs);
      while (running.size > 0 || claiming) {
        if (running.size > 0) await Promise.race(running);
        else await new Promise(setImmediate);
      }
      clearTimeout(deadline);
      await settlements.flush();
    },
  };
}
