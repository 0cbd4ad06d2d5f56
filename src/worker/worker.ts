import { describeError } from "../errors.ts";
import type { Claim } from "../events/job.ts";
import type { EventStore, Work } from "../events/store.ts";
import { createBatcher } from "../lib/batch.ts";
import type { Log } from "../log.ts";
import type { AttemptTools } from "./attempt.ts";
import { type Breaker, createBreaker } from "./breaker.ts";
import { createFanOut } from "./fan-out.ts";
import type { Handler } from "./handler.ts";
import { judgedAnew } from "./judged-anew.ts";
import type { JudgingMark } from "./judging.ts";
import { createOutages } from "./outages.ts";
import type { Route } from "./route.ts";
import { createRouteWorker, type OnExpired, type RouteWorker } from "./route-worker.ts";
import { createRouting, type OpenPayload } from "./routing.ts";
import { createSettler, type OnSettled } from "./settler.ts";
import { createStoreLoop } from "./store-loop.ts";

export type { OnExpired, OnSettled };

/** Options of a worker. `now` is in Unix milliseconds, `monotonic` of a clock that is never set, `random` in [0, 1). */
export interface WorkerOptions {
  store: Pick<
    EventStore,
    | "pending"
    | "payloads"
    | "addJobs"
    | "rerouted"
    | "addRerouted"
    | "claim"
    | "renew"
    | "release"
    | "settle"
    | "routes"
    | "unblockRoute"
    | "noteUnavailable"
    | "askedProbes"
  >;
  /** Reads what routes choose by. */
  openPayload: OpenPayload;
  /** Whether the events of a source that nobody signed take routes. */
  routesCaptured?: (source: string) => boolean;
  /** Of the events that are being judged. Without one, a crash during their judging is not noticed. */
  judgingMark?: JudgingMark;
  judgingTimeoutMs?: number;
  pollIntervalMs: number;
  /** Lifetime of a lease, which is renewed after a third of it. */
  leaseMs?: number;
  /** Name of this worker, unique among live workers. */
  owner: string;
  log: Log;
  /** Whether deliveries need the processor more. The worker then pauses between claims. */
  mustYield?: () => boolean;
  /** The part of each route's rate that this worker has now. Those of all workers add up to 1. */
  share?: () => number;
  onSettled?: OnSettled;
  onExpired?: OnExpired;
  now?: () => number;
  monotonic?: () => number;
  random?: () => number;
}

type CreateHandler = (route: Route) => Handler;

const DEFAULT_LEASE_MS = 15_000;

// Events that get their jobs in one transaction. 256 take 3 ms, during which deliveries wait. With 1000, fewer
// deliveries were received; with 128, fewer events were processed.
const FAN_OUT = 256;
const YIELDING_FAN_OUT = 32;

/** Creates the worker: it creates the jobs of events, and has a worker for each route that processes them. */
export function createWorker(options: WorkerOptions) {
  const { store, openPayload, pollIntervalMs, log } = options;
  const {
    now = Date.now,
    monotonic = () => performance.now(),
    random = Math.random,
    leaseMs = DEFAULT_LEASE_MS,
  } = options;
  const {
    routesCaptured = () => false,
    share = () => 1,
    mustYield = () => false,
    onSettled = () => {},
    onExpired = () => {},
  } = options;
  const settler = createSettler({
    store,
    log,
    onSettled,
    onRetry: (route, runAt) => workers.get(route)?.wakeAt(runAt),
  });
  let routes: readonly Route[] = [];
  let routing = createRouting(routes, openPayload);
  const fanOut = createFanOut({
    store,
    routing: () => routing,
    routesCaptured,
    pollIntervalMs,
    now,
    monotonic,
    mark: options.judgingMark,
    judgingTimeoutMs: options.judgingTimeoutMs,
    onSetAside: ({ id: number, source, type }, reason) =>
      log.error(
        { event: "event_unjudged", number, source, type, reason },
        "event set aside: the routes that look into it have a dead letter of it; replay or discard it",
      ),
    onUnrouted: ({ source, type }) =>
      log.warn({ event: "event_unrouted", source, type }, "no route takes events like this one; it is stored"),
  });
  const workers = new Map<string, RouteWorker>();
  /** Workers of routes that are no longer configured, until their last attempt has ended. */
  const retiring = new Map<RouteWorker, Promise<void>>();
  /** By target. The routes of a target share one. */
  const breakers = new Map<string, Breaker>();
  let renewal: NodeJS.Timeout | undefined;
  let isStopped = true;
  const deadline = Promise.withResolvers<void>();
  const renewals = createBatcher((claims: Claim[]) => store.renew(claims, leaseMs, now()));
  const shared = {
    ...options,
    settler,
    renew: renewals.add,
    leaseMs,
    mustYield,
    share,
    onExpired,
    now,
    monotonic,
    random,
  };

  function toolsOf(route: Route, createHandler: CreateHandler): AttemptTools {
    const handler = judgedAnew(createHandler(route), route, openPayload);
    return { route, handler, breaker: breakerOf(handler.target ?? `route ${route.name}`) };
  }

  function breakerOf(target: string): Breaker {
    const known = breakers.get(target);
    if (known) return known;
    const breaker = createBreaker((isOpen, route) => {
      logBreaker(log, route, isOpen);
      outages.wake();
    });
    breakers.set(target, breaker);
    return breaker;
  }

  function retire(name: string, worker: RouteWorker): void {
    workers.delete(name);
    retiring.set(
      worker,
      worker.stop(deadline.promise).then(() => void retiring.delete(worker)),
    );
  }

  /**
   * Ends what an earlier configuration left: dead letters that block, and jobs whose route is not configured, which are
   * logged.
   */
  async function inspectRoutes(): Promise<void> {
    try {
      for (const { name, orderBy, whenStuck } of routes) {
        if (orderBy === null || whenStuck === "skip") await store.unblockRoute(name, now());
      }
      for (const { route, queued, failed } of await store.routes(now())) {
        if (workers.has(route) || queued + failed === 0 || isStopped) continue;
        log.warn({ event: "route_gone", route, queued, failed }, "jobs of a route that is not configured wait for it");
      }
      for (const worker of workers.values()) worker.wake();
    } catch (error) {
      log.error({ event: "worker_error", error: describeError(error) }, "the routes could not be inspected");
    }
  }

  const outages = createOutages({
    ...options,
    read: () =>
      [...workers].flatMap(([route, worker]) => {
        const outage = worker.outage();
        return outage === null ? [] : [{ route, ...outage }];
      }),
    tryNow: (route) => workers.get(route)?.tryNow(),
    now,
  });

  const loop = createStoreLoop({
    async step(isYielding) {
      for (const route of await fanOut.run(isYielding ? YIELDING_FAN_OUT : FAN_OUT)) workers.get(route)?.wake();
      return fanOut.isDue() ? null : now() + pollIntervalMs;
    },
    pollIntervalMs,
    mustYield,
    onFault: (error) => log.error({ event: "worker_error", error }, "jobs could not be created; retrying"),
    now,
  });

  return {
    start(): void {
      isStopped = false;
      renewal = setInterval(() => {
        for (const worker of [...workers.values(), ...retiring.keys()]) worker.renewAll();
      }, leaseMs / 3);
      for (const worker of workers.values()) worker.start();
      void inspectRoutes();
      loop.start();
      outages.start();
    },
    /** Tells the worker of new events, or of due jobs. It takes them at once instead of at the next poll. */
    notify(work: Work): void {
      if (work === "jobs") for (const worker of workers.values()) worker.wake();
      fanOut.notify(work);
      loop.wake();
      if (work === "jobs") outages.wake();
    },
    /** Processes with these routes from now on, at first with none. Running attempts end as they began. */
    applyRoutes(next: readonly Route[], createHandler: CreateHandler): void {
      routes = next;
      routing = createRouting(next, openPayload);
      const names = new Set(next.map(({ name }) => name));
      for (const [name, worker] of workers) if (!names.has(name)) retire(name, worker);
      for (const route of next) {
        const tools = toolsOf(route, createHandler);
        const known = workers.get(route.name);
        if (known) {
          known.use(tools);
          continue;
        }
        const worker = createRouteWorker({ ...shared, name: route.name, tools });
        workers.set(route.name, worker);
        if (!isStopped) worker.start();
      }
      if (!isStopped) void inspectRoutes();
    },
    /** Whether the target of a route is available, as far as its attempts have shown. */
    isAvailable: (route: string) => workers.get(route)?.isAvailable() ?? true,
    /**
     * Stops claiming and waits for running attempts. Those still running at the deadline are interrupted and queued
     * again.
     */
    async stop(deadlineMs: number): Promise<void> {
      isStopped = true;
      await loop.stop();
      const timer = setTimeout(() => {
        settler.stopRetrying();
        deadline.resolve();
      }, deadlineMs);
      const ended = [...workers.values()].map((worker) => worker.stop(deadline.promise));
      await Promise.all([...ended, ...retiring.values()]);
      clearTimeout(timer);
      settler.stopRetrying();
      await settler.flush();
      clearInterval(renewal);
      await outages.stop();
      await options.judgingMark?.close();
    },
  };
}

/** The worker of a process. It runs from `start` to `stop`. */
export type Worker = ReturnType<typeof createWorker>;

function logBreaker(log: Log, route: string, isOpen: boolean): void {
  if (isOpen)
    log.warn({ event: "target_unavailable", route }, "the target is unavailable: events wait until it answers again");
  else log.info({ event: "target_available", route }, "the target is available again");
}
