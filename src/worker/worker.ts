import { setTimeout as delay } from "node:timers/promises";
import { describeError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import type { Log } from "../log.ts";
import { createAlarm } from "./alarm.ts";
import { createAttempts } from "./attempts.ts";
import type { RetryPolicy } from "./backoff.ts";
import { createBreaker } from "./breaker.ts";
import type { EventHandler } from "./run.ts";
import { createSettling, logDeadLetter, type OnSettled, STORE_RETRY_MS } from "./settling.ts";

export type { OnSettled };

/** Told of attempts that ended with their lease: how many are followed by another one, and how many were the last. */
export type OnExpired = (retried: number, buried: number) => void;

/** What a worker works on and how. `now` is in Unix milliseconds, `random` in [0, 1). */
export interface WorkerOptions {
  store: Pick<EventStore, "claim" | "renew" | "release" | "settle">;
  handler: EventHandler;
  policy: RetryPolicy;
  /** Handlers at once. */
  concurrency: number;
  pollIntervalMs: number;
  handlerTimeoutMs: number;
  /** How long a claim holds without a sign of life; it is renewed at a third of this. */
  leaseMs?: number;
  /** Names this worker; no two live workers share a name. */
  owner: string;
  log: Log;
  /** Tells whether senders wait who need the machine more. The worker then goes on, at an easy pace. */
  mustYield?: () => boolean;
  onSettled?: OnSettled;
  onExpired?: OnExpired;
  now?: () => number;
  random?: () => number;
}

/** The worker of a process. It runs from `start` to `stop`. */
export interface Worker {
  start(): void;
  /** Says that new events are due: the worker looks at once. */
  nudge(): void;
  /** Claims nothing more, waits for what runs, and interrupts it after the deadline; interrupted events are queued again. */
  stop(deadlineMs: number): Promise<void>;
}

const DEFAULT_LEASE_MS = 15_000;

// Between two claims while it yields.
const REST_MS = 80;

/** Creates the worker: it claims due events, runs the handler on each, and settles them. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, policy, pollIntervalMs, owner, log } = options;
  const { now = Date.now, random = Math.random, leaseMs = DEFAULT_LEASE_MS } = options;
  const { mustYield = () => false, onSettled = () => {}, onExpired = () => {} } = options;
  const alarm = createAlarm(now);
  const settling = createSettling({ store, log, onSettled, onRetry: alarm.ringAt });
  const breaker = createBreaker((isOpen) => logBreaker(log, isOpen));
  const attempts = createAttempts({ ...options, leaseMs, settling, breaker, now, random, onRoom: alarm.ring });
  let renewal: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  let isStopped = true;

  async function lookWheneverItRings(): Promise<void> {
    while (!isStopped) {
      alarm.ringAt(await claimAll());
      await alarm.rung();
    }
  }

  /** Claims until every place is taken or nothing is due. Returns when to look again. */
  async function claimAll(): Promise<number> {
    try {
      while (!isStopped && attempts.places() > 0) {
        const isYielding = mustYield();
        const nextLookAt = await claimOnce(isYielding ? attempts.places() : attempts.room());
        if (isYielding) await delay(REST_MS);
        if (nextLookAt !== null) return nextLookAt;
      }
      const nextPlaceAt = attempts.nextPlaceAt() ?? 0;
      return nextPlaceAt > now() ? Math.min(nextPlaceAt, now() + pollIntervalMs) : now() + pollIntervalMs;
    } catch (error) {
      log.error({ event: "worker_error", error: describeError(error) }, "events could not be claimed");
      return now() + Math.max(pollIntervalMs, STORE_RETRY_MS);
    }
  }

  /** Returns when to look again; null when more may be due now. */
  async function claimOnce(limit: number): Promise<number | null> {
    const { claimed, expired, buried, nextDueAt } = await store.claim({
      owner,
      limit,
      leaseMs,
      maxAttempts: policy.attempts,
      now: now(),
      holding: attempts.ids(),
    });
    onExpired(expired, buried.length);
    for (const event of buried) logDeadLetter(log, event, event.attempts, event.lastError);
    attempts.take(claimed);
    if (claimed.length + buried.length === limit) return null;
    return Math.min(now() + pollIntervalMs, nextDueAt ?? Number.POSITIVE_INFINITY);
  }

  return {
    start() {
      isStopped = false;
      renewal = setInterval(attempts.renewAll, leaseMs / 3);
      looking = lookWheneverItRings();
    },
    nudge: alarm.ring,
    async stop(deadlineMs) {
      isStopped = true;
      alarm.ring();
      await looking;
      await attempts.end(deadlineMs);
      clearInterval(renewal);
    },
  };
}

function logBreaker(log: Log, isOpen: boolean): void {
  if (isOpen) log.warn({ event: "target_unavailable" }, "the target cannot be reached: its events wait for it");
  else log.info({ event: "target_available" }, "the target is back");
}
