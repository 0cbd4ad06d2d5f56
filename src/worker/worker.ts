import { setTimeout as delay } from "node:timers/promises";
import { describeError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import type { Log } from "../log.ts";
import { createAttempts } from "./attempts.ts";
import { type RetryPolicy, retryDelaysMs } from "./backoff.ts";
import { createBreaker } from "./breaker.ts";
import { createFanOut } from "./fan-out.ts";
import { DEFAULT_ROUTE, routeToDefault } from "./routing.ts";
import type { EventHandler } from "./run.ts";
import { createSettler, logDeadLetter, type OnSettled, STORE_RETRY_MS } from "./settler.ts";
import { createWakeup } from "./wakeup.ts";

export type { OnSettled };

/** Called after leases ran out, with the number of jobs that will be retried and of those that became dead letters. */
export type OnExpired = (retried: number, deadLettered: number) => void;

/** Options of a worker. `now` is in Unix milliseconds, `random` in [0, 1). */
export interface WorkerOptions {
  store: Pick<EventStore, "unrouted" | "addJobs" | "claim" | "renew" | "release" | "settle">;
  handler: EventHandler;
  policy: RetryPolicy;
  /** How many handlers may run at once. */
  concurrency: number;
  pollIntervalMs: number;
  handlerTimeoutMs: number;
  /** Lifetime of a lease, which is renewed after a third of it. */
  leaseMs?: number;
  /** Name of this worker, unique among live workers. */
  owner: string;
  log: Log;
  /** Whether deliveries need the processor more. The worker then pauses between claims. */
  mustYield?: () => boolean;
  onSettled?: OnSettled;
  onExpired?: OnExpired;
  now?: () => number;
  random?: () => number;
}

/** The worker of a process. It runs from `start` to `stop`. */
export interface Worker {
  start(): void;
  /** Tells the worker of new events or due jobs. It claims at once instead of at the next poll. */
  notify(): void;
  /** Stops claiming and waits for running attempts. Those still running at the deadline are interrupted and queued again. */
  stop(deadlineMs: number): Promise<void>;
}

const DEFAULT_LEASE_MS = 15_000;

/** Pause between two claims while the worker yields. */
const YIELD_PAUSE_MS = 80;

// Events that get their jobs in one transaction. 256 take 3 ms, during which deliveries wait. With 1000, fewer deliveries
// were received; with 128, fewer events were processed.
const FAN_OUT = 256;
const YIELDING_FAN_OUT = 32;

/** Creates the worker: it creates the jobs of events, claims due jobs, runs the handler on each and settles them. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, policy, pollIntervalMs, owner, log } = options;
  const { now = Date.now, random = Math.random, leaseMs = DEFAULT_LEASE_MS } = options;
  const { mustYield = () => false, onSettled = () => {}, onExpired = () => {} } = options;
  const wakeup = createWakeup(now);
  const settler = createSettler({ store, log, onSettled, onRetry: wakeup.wakeAt });
  const breaker = createBreaker((isOpen) => logBreaker(log, isOpen));
  const attempts = createAttempts({ ...options, leaseMs, settler, breaker, now, random, onCapacity: wakeup.wake });
  const fanOut = createFanOut({ store, routing: routeToDefault, pollIntervalMs, now });
  let renewal: NodeJS.Timeout | undefined;
  let loop: Promise<void> | undefined;
  /** The store's present error, which has been logged. */
  let fault: string | undefined;
  let isStopped = true;

  async function claimLoop(): Promise<void> {
    while (!isStopped) {
      wakeup.wakeAt(await claimAll());
      await wakeup.wait();
    }
  }

  /** Creates and claims jobs until none is due or no capacity is left. Returns when to claim again, in Unix milliseconds. */
  async function claimAll(): Promise<number> {
    try {
      while (!isStopped) {
        const isYielding = mustYield();
        await fanOut.run(isYielding ? YIELDING_FAN_OUT : FAN_OUT);
        const nextClaimAt = await claim(isYielding ? attempts.freeCapacity() : attempts.claimLimit());
        if (isYielding) await delay(YIELD_PAUSE_MS);
        fault = undefined;
        if (nextClaimAt !== null && !fanOut.isDue()) return nextClaimAt;
      }
      return now() + pollIntervalMs;
    } catch (error) {
      if (describeError(error) !== fault) {
        fault = describeError(error);
        log.error({ event: "worker_error", error: fault }, "jobs could not be created or claimed; retrying");
      }
      return now() + Math.max(pollIntervalMs, STORE_RETRY_MS);
    }
  }

  /** Claims up to `limit` jobs. Returns when to claim again; null when more jobs may be due now. */
  async function claim(limit: number): Promise<number | null> {
    if (attempts.freeCapacity() <= 0) {
      const nextProbeAt = breaker.probeAt() ?? 0;
      return nextProbeAt > now() ? Math.min(nextProbeAt, now() + pollIntervalMs) : now() + pollIntervalMs;
    }
    const { claimed, expired, deadLettered, unreadable, nextDueAt } = await store.claim({
      route: DEFAULT_ROUTE,
      owner,
      limit,
      leaseMs,
      retryDelaysMs: retryDelaysMs(policy, random),
      now: now(),
      holding: attempts.events(),
    });
    onExpired(expired, deadLettered.length);
    for (const job of deadLettered) logDeadLetter(log, job);
    for (const { event: number, ...job } of unreadable) {
      log.error(
        { event: "event_unreadable", number, ...job },
        "event dead-lettered: the database is damaged where the event is; run authserve doctor",
      );
    }
    attempts.start(claimed);
    if (claimed.length + expired + deadLettered.length + unreadable.length === limit) return null;
    return Math.min(now() + pollIntervalMs, nextDueAt ?? Number.POSITIVE_INFINITY);
  }

  return {
    start() {
      isStopped = false;
      renewal = setInterval(attempts.renewAll, leaseMs / 3);
      loop = claimLoop();
    },
    notify() {
      fanOut.notify();
      wakeup.wake();
    },
    async stop(deadlineMs) {
      isStopped = true;
      wakeup.wake();
      await loop;
      await attempts.stop(deadlineMs);
      clearInterval(renewal);
    },
  };
}

function logBreaker(log: Log, isOpen: boolean): void {
  if (isOpen)
    log.warn({ event: "target_unavailable" }, "the target is unavailable: events wait until it answers again");
  else log.info({ event: "target_available" }, "the target is available again");
}
