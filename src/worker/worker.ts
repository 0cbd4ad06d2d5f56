import { setTimeout as delay } from "node:timers/promises";
import { describeError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import type { Log } from "../log.ts";
import { createAlarm } from "./alarm.ts";
import { createAttempts } from "./attempts.ts";
import { type RetryPolicy, retryDelaysMs } from "./backoff.ts";
import { createBreaker } from "./breaker.ts";
import { createFanOut } from "./fan-out.ts";
import { DEFAULT_ROUTE, routeToDefault } from "./routing.ts";
import type { EventHandler } from "./run.ts";
import { createSettling, logDeadLetter, type OnSettled, STORE_RETRY_MS } from "./settling.ts";

export type { OnSettled };

/** Told of attempts that ended with their lease: how many are followed by another one, and how many were the last. */
export type OnExpired = (retried: number, buried: number) => void;

/** What a worker works on and how. `now` is in Unix milliseconds, `random` in [0, 1). */
export interface WorkerOptions {
  store: Pick<EventStore, "unrouted" | "addJobs" | "claim" | "renew" | "release" | "settle">;
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
  /** Says that events have come, or jobs have become due: the worker looks at once. */
  nudge(): void;
  /** Claims nothing more, waits for what runs, and interrupts it after the deadline; interrupted events are queued again. */
  stop(deadlineMs: number): Promise<void>;
}

const DEFAULT_LEASE_MS = 15_000;

// Between two claims while it yields.
const REST_MS = 80;

// Events whose jobs are made in one transaction, while deliveries wait: 3 ms. With 1000 fewer deliveries come in, with 128
// fewer events are processed. While it yields, a few.
const FAN_OUT = 256;
const YIELDING_FAN_OUT = 32;

/** Creates the worker: it makes the jobs of events, claims those that are due, runs the handler on each, and settles them. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, policy, pollIntervalMs, owner, log } = options;
  const { now = Date.now, random = Math.random, leaseMs = DEFAULT_LEASE_MS } = options;
  const { mustYield = () => false, onSettled = () => {}, onExpired = () => {} } = options;
  const alarm = createAlarm(now);
  const settling = createSettling({ store, log, onSettled, onRetry: alarm.ringAt });
  const breaker = createBreaker((isOpen) => logBreaker(log, isOpen));
  const attempts = createAttempts({ ...options, leaseMs, settling, breaker, now, random, onRoom: alarm.ring });
  const fanOut = createFanOut({ store, routing: routeToDefault, pollIntervalMs, now });
  let renewal: NodeJS.Timeout | undefined;
  let looking: Promise<void> | undefined;
  /** What keeps it from looking, which the log has been told. */
  let fault: string | undefined;
  let isStopped = true;

  async function lookWheneverItRings(): Promise<void> {
    while (!isStopped) {
      alarm.ringAt(await lookAll());
      await alarm.rung();
    }
  }

  /** Looks until every event has its jobs, and every place is taken or nothing is due. Returns when to look again. */
  async function lookAll(): Promise<number> {
    try {
      while (!isStopped) {
        const isYielding = mustYield();
        await fanOut.run(isYielding ? YIELDING_FAN_OUT : FAN_OUT);
        const nextLookAt = await claim(isYielding ? attempts.places() : attempts.room());
        if (isYielding) await delay(REST_MS);
        fault = undefined;
        if (nextLookAt !== null && !fanOut.isDue()) return nextLookAt;
      }
      return now() + pollIntervalMs;
    } catch (error) {
      if (describeError(error) !== fault) {
        fault = describeError(error);
        log.error({ event: "worker_error", error: fault }, "jobs could not be made or claimed; trying until they can");
      }
      return now() + Math.max(pollIntervalMs, STORE_RETRY_MS);
    }
  }

  /** Claims while there is a place. Returns when to look again; null when more may be due now. */
  async function claim(limit: number): Promise<number | null> {
    if (attempts.places() <= 0) {
      const nextPlaceAt = attempts.nextPlaceAt() ?? 0;
      return nextPlaceAt > now() ? Math.min(nextPlaceAt, now() + pollIntervalMs) : now() + pollIntervalMs;
    }
    const { claimed, expired, buried, unreadable, nextDueAt } = await store.claim({
      route: DEFAULT_ROUTE,
      owner,
      limit,
      leaseMs,
      retryDelaysMs: retryDelaysMs(policy, random),
      now: now(),
      holding: attempts.events(),
    });
    onExpired(expired, buried.length);
    for (const job of buried) logDeadLetter(log, job);
    for (const { event: number, ...job } of unreadable) {
      log.error(
        { event: "event_unreadable", number, ...job },
        "event dead-lettered: it cannot be read; see authserve doctor",
      );
    }
    attempts.take(claimed);
    if (claimed.length + expired + buried.length + unreadable.length === limit) return null;
    return Math.min(now() + pollIntervalMs, nextDueAt ?? Number.POSITIVE_INFINITY);
  }

  return {
    start() {
      isStopped = false;
      renewal = setInterval(attempts.renewAll, leaseMs / 3);
      looking = lookWheneverItRings();
    },
    nudge() {
      fanOut.nudge();
      alarm.ring();
    },
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
