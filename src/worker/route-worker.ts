import type { EventStore, UnavailableRoute } from "../events/store.ts";
import { createRateLimit } from "../lib/rate-limit.ts";
import type { AttemptTools } from "./attempt.ts";
import { type AttemptsOptions, createAttempts } from "./attempts.ts";
import { retryDelaysMs } from "./decide.ts";
import { logDeadLetter } from "./settler.ts";
import { createStoreLoop } from "./store-loop.ts";

/** Called after leases ran out, with the number of jobs that will be retried and of those that became dead letters. */
export type OnExpired = (retried: number, deadLettered: number) => void;

/** Options of the worker of one route. Members with the same name mean the same as in the worker's options. */
interface RouteWorkerOptions extends Omit<AttemptsOptions, "store" | "onCapacity"> {
  name: string;
  store: Pick<EventStore, "claim" | "release">;
  leaseMs: number;
  pollIntervalMs: number;
  mustYield: () => boolean;
  share: () => number;
  onExpired: OnExpired;
}

/** Creates the worker of a route. */
export function createRouteWorker(options: RouteWorkerOptions) {
  const { name, store, pollIntervalMs, leaseMs, owner, log, share, onExpired, now, monotonic, random } = options;
  const loop = createStoreLoop({
    ...options,
    step: claim,
    onFault: (error) => log.error({ event: "worker_error", route: name, error }, "jobs could not be claimed; retrying"),
  });
  const attempts = createAttempts({ ...options, onCapacity: loop.wake });
  let { tools } = options;
  let rate = createRateLimit(tools.route.ratePerSecond, { share });

  /** How many jobs to claim now. A job that is claimed ahead would begin later than its rate allows. */
  function claimLimit(isYielding: boolean): number {
    const isAhead = !isYielding && tools.route.ratePerSecond === null;
    return Math.min(isAhead ? attempts.claimLimit() : attempts.freeCapacity(), rate.available(monotonic()));
  }

  /** When capacity becomes free by itself: at the next probe, or as the rate allows. */
  function nextCapacityAt(): number {
    const freeAt = attempts.freeCapacity() > 0 ? rate.nextAt(monotonic()) : (tools.breaker.probeAt() ?? 0);
    const waitMs = freeAt - monotonic();
    return now() + (waitMs > 0 ? waitMs : pollIntervalMs);
  }

  /** Claims jobs. Returns when to claim again; null when more jobs may be due now. */
  async function claim(isYielding: boolean): Promise<number | null> {
    const limit = claimLimit(isYielding);
    if (limit <= 0) return nextCapacityAt();
    const { retry, whenStuck } = tools.route;
    const askedAt = monotonic();
    const { claimed, expired, deadLettered, unreadable, nextDueAt } = await store.claim({
      route: name,
      owner,
      limit,
      leaseMs,
      retryDelaysMs: retryDelaysMs(retry, random),
      blocks: whenStuck === "block",
      now: now(),
      inProgress: attempts.events(),
    });
    attempts.noteClaim(monotonic() - askedAt);
    onExpired(expired, deadLettered.length);
    for (const job of deadLettered) logDeadLetter(log, job);
    for (const { event: number, ...job } of unreadable) {
      log.error(
        { event: "event_unreadable", number, ...job },
        "event dead-lettered: the database is damaged where the event is; run authserve doctor",
      );
    }
    rate.take(claimed.length, monotonic());
    attempts.start(claimed);
    if (claimed.length + expired + deadLettered.length + unreadable.length === limit) return null;
    return nextDueAt ?? Number.POSITIVE_INFINITY;
  }

  return {
    start: loop.start,
    /** Makes further attempts with other tools. */
    use(next: AttemptTools): void {
      if (next.route.ratePerSecond !== tools.route.ratePerSecond)
        rate = createRateLimit(next.route.ratePerSecond, { share });
      tools = next;
      attempts.use(next);
      loop.wake();
    },
    /** Claims at once instead of at the next poll. */
    wake: loop.wake,
    /** Claims at a time in Unix milliseconds, unless sooner. */
    wakeAt: loop.wakeAt,
    renewAll: attempts.renewAll,
    /** Whether its breaker is closed. */
    isAvailable: () => !tools.breaker.isOpen(),
    /** Since when its target is unavailable, and when the next probe may begin. Null if the target is available. */
    outage(): Omit<UnavailableRoute, "route"> | null {
      const since = tools.breaker.openSince();
      if (since === null) return null;
      const probeAt = tools.breaker.probeAt();
      const toTime = (at: number) => Math.round(now() + at - monotonic());
      return { since: toTime(since), probeAt: probeAt === null ? null : toTime(probeAt) };
    },
    /** Lets the next probe begin now. */
    tryNow(): void {
      tools.breaker.probeNow(monotonic());
      loop.wake();
    },
    /** Stops claiming and waits for running attempts. They are interrupted when `deadline` resolves. */
    async stop(deadline: Promise<void>): Promise<void> {
      await loop.stop();
      await attempts.stop(deadline);
    },
  };
}

/** Claims and processes the jobs of one route, independently of other routes. It runs from `start` to `stop`. */
export type RouteWorker = ReturnType<typeof createRouteWorker>;
