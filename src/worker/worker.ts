import { describeError } from "../errors.ts";
import type { EventStore } from "../events/store.ts";
import type { Log } from "../log.ts";
import { createAttempts, logDeadLetter, type OnSettled, STORE_RETRY_MS } from "./attempts.ts";
import type { RetryPolicy } from "./backoff.ts";
import type { EventHandler } from "./run-event.ts";

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
  /** Told before the worker looks for due events: of what is stored from now on it must be nudged again. */
  onLook?: () => void;
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

const DEFAULT_LEASE_MS = 30_000;

// Between two claims while it yields: at first, and after each further claim twice as long up to the longest, which leaves
// deliveries a twentieth more (1.05 ± 0.03 of the rate; 160 no more than that).
const FIRST_REST_MS = 20;
const LONGEST_REST_MS = 80;

/** Creates the worker: it claims due events, runs the handler on each, and settles them. */
export function createWorker(options: WorkerOptions): Worker {
  const { store, handler, policy, concurrency, handlerTimeoutMs, owner, log } = options;
  const { now = Date.now, random = Math.random, leaseMs = DEFAULT_LEASE_MS } = options;
  const { mustYield = () => false, onLook = () => {}, onSettled = () => {}, onExpired = () => {} } = options;

  const attempts = createAttempts({
    store,
    handler,
    policy,
    concurrency,
    handlerTimeoutMs,
    leaseMs,
    owner,
    log,
    now,
    random,
    onSettled,
    onRoom: fillSoon,
    onRetry: wakeAt,
  });
  let timer: NodeJS.Timeout | undefined;
  let wakesAt = Number.POSITIVE_INFINITY;
  // Of the monotonic clock.
  let restsUntil = 0;
  let nextRestMs = FIRST_REST_MS;
  let renewal: NodeJS.Timeout | undefined;
  let claiming: Promise<void> | undefined;
  let filling = false;
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
    const restMs = restsUntil - performance.now();
    if (restMs > 0) {
      wakeAt(now() + restMs);
      return;
    }
    filling = true;
    setImmediate(() => {
      claiming = fill().finally(() => {
        filling = false;
        claiming = undefined;
        if (nudged && attempts.places() > 0) fillSoon();
      });
    });
  }

  /** Claims until every place is taken or nothing is due. */
  async function fill(): Promise<void> {
    let nextLookAt = now() + options.pollIntervalMs;
    try {
      while (nudged && !stopped && attempts.places() > 0 && performance.now() >= restsUntil) {
        nudged = false;
        onLook();
        const yielding = mustYield();
        const limit = yielding ? attempts.places() : attempts.room();
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
        if (claimed.length + buried.length === limit) nudged = true;
        else nextLookAt = Math.min(now() + options.pollIntervalMs, nextDueAt ?? Number.POSITIVE_INFINITY);
        if (yielding) {
          restsUntil = performance.now() + nextRestMs;
          nextRestMs = Math.min(nextRestMs * 2, LONGEST_REST_MS);
        } else nextRestMs = FIRST_REST_MS;
      }
    } catch (error) {
      nudged = false;
      log.error({ event: "worker_error", error: describeError(error) }, "events could not be claimed");
      nextLookAt = now() + Math.max(options.pollIntervalMs, STORE_RETRY_MS);
    }
    wakeAt(nextLookAt);
  }

  return {
    start() {
      stopped = false;
      renewal = setInterval(attempts.renewAll, leaseMs / 3);
      fillSoon();
    },
    nudge: fillSoon,
    async stop(deadlineMs) {
      stopped = true;
      clearTimeout(timer);
      await claiming;
      await attempts.end(deadlineMs);
      clearInterval(renewal);
    },
  };
}
