import { setTimeout as delay } from "node:timers/promises";
import { createBatcher } from "../batch.ts";
import { describeError } from "../errors.ts";
import type { ClaimedEvent, EventStore, EventSummary, Settlement } from "../events/store.ts";
import type { Log } from "../log.ts";
import type { RetryPolicy } from "./backoff.ts";
import { decide } from "./decide.ts";
import { type EventHandler, runEvent } from "./run-event.ts";

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

  /** What is claimed and not yet settled, with the way to interrupt it. */
  const held = new Map<ClaimedEvent, AbortController>();
  /** Handlers under way: the places that `concurrency` bounds. */
  let running = 0;
  const settlements = createBatcher((batch: Settlement[]) => store.settle(batch));
  let timer: NodeJS.Timeout | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;
  let renewal: NodeJS.Timeout | undefined;
  let claiming: Promise<void> | undefined;
  let filling = false;
  let nudged = false;
  let stopped = true;
  const idle: (() => void)[] = [];

  /** Looks again at a time, or sooner when something else asks for it. */
  function wakeAt(at: number): void {
    if (stopped || at >= wakesAt) return;
    clearTimeout(timer);
    wakesAt = at;
    timer = setTimeout(
      () => {
        wakesAt = Number.POSITIVE_INFINITY;
        fillSoon();
      },
      // Timers may fire a millisecond early, and then nothing would be due yet.
      Math.max(0, at - now()) + 2,
    );
  }

  /** Looks for due events at the end of this turn: what ends together is filled up together. */
  function fillSoon(): void {
    nudged = true;
    if (filling || stopped) return;
    filling = true;
    setImmediate(() => {
      claiming = fill().finally(() => {
        filling = false;
        claiming = undefined;
        if (nudged && hasPlace()) fillSoon();
      });
    });
  }

  /** Claims until every place is taken or nothing is due. */
  async function fill(): Promise<void> {
    let nextLookAt = now() + options.pollIntervalMs;
    try {
      while (nudged && !stopped && hasPlace()) {
        nudged = false;
        const limit = concurrency - running;
        const { claimed, buried, nextDueAt } = await store.claim({
          owner,
          limit,
          leaseMs,
          maxAttempts: policy.attempts,
          now: now(),
        });
        for (const event of buried) logDeadLetter(event, event.attempts, event.lastError);
        for (const event of claimed) begin(event);
        if (claimed.length + buried.length === limit) nudged = true;
        else nextLookAt = Math.min(now() + options.pollIntervalMs, nextDueAt ?? Number.POSITIVE_INFINITY);
      }
    } catch (error) {
      nudged = false;
      log.error({ event: "worker_error", error: describeError(error) }, "events could not be claimed");
      nextLookAt = now() + Math.max(options.pollIntervalMs, STORE_RETRY_MS);
    }
    wakeAt(nextLookAt);
  }

  /** A place is free as soon as a handler ends, so that the settle and the next claim share a commit; a slow store bounds it. */
  function hasPlace(): boolean {
    return running < concurrency && held.size < 4 * concurrency;
  }

  function begin(event: ClaimedEvent): void {
    const interruption = new AbortController();
    held.set(event, interruption);
    process(event, interruption.signal)
      .catch((error) =>
        log.error(
          { event: "worker_error", ...labels(event), error: describeError(error) },
          "an attempt could not be settled; its lease will run out",
        ),
      )
      .finally(() => {
        held.delete(event);
        if (held.size === 0) for (const resolve of idle.splice(0)) resolve();
        fillSoon();
      });
  }

  /** Keeps the leases of what runs; a lease that is gone ends its run. */
  function renewAll(): void {
    for (const [event, interruption] of held) {
      const { id, attempt } = event;
      store.renew({ id, owner, attempt }, leaseMs, now()).then(
        (isHeld) => {
          if (!isHeld) interruption.abort(new Error("the lease was lost"));
        },
        (error) =>
          log.error(
            { event: "worker_error", ...labels(event), error: describeError(error) },
            "a lease could not be renewed",
          ),
      );
    }
  }

  async function process(event: ClaimedEvent, interruption: AbortSignal): Promise<void> {
    const { id, attempt } = event;
    const startedAt = now();
    running++;
    const outcome = await runEvent(handler, event, options.handlerTimeoutMs, interruption).finally(() => {
      running--;
      fillSoon();
    });
    const finishedAt = now();
    const next = decide(outcome, event.attemptOfBudget, policy, finishedAt, random());
    const error = outcome.kind === "succeeded" ? null : outcome.error;
    const settled = await settle({ id, owner, attempt, next, startedAt, finishedAt, error });
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

  /** Records the end of an attempt. A store that fails is asked again for as long as the lease may hold. */
  async function settle(settlement: Settlement): Promise<boolean> {
    for (;;) {
      try {
        return await settlements.add(settlement);
      } catch (error) {
        if (stopped || now() > settlement.finishedAt + leaseMs) throw error;
        await delay(STORE_RETRY_MS);
      }
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
      renewal = setInterval(renewAll, leaseMs / 3);
      fillSoon();
    },
    nudge: fillSoon,
    async stop(deadlineMs) {
      stopped = true;
      clearTimeout(timer);
      await claiming;
      const deadline = setTimeout(() => {
        for (const interruption of held.values()) interruption.abort(new Error("the server stopped"));
      }, deadlineMs);
      if (held.size > 0) await new Promise<void>((resolve) => idle.push(resolve));
      clearTimeout(deadline);
      clearInterval(renewal);
      await settlements.flush();
    },
  };
}
