import { describeError } from "../errors.ts";
import type { Claim, ClaimedJob } from "../events/job.ts";
import type { EventStore } from "../events/store.ts";
import type { Log } from "../log.ts";
import { type AttemptTools, type ClaimedRun, makeAttempt } from "./attempt.ts";
import { logFailure, type Settler } from "./settler.ts";

/** Options of the attempts. Members with the same name mean the same as in the worker's options. */
export interface AttemptsOptions {
  store: Pick<EventStore, "release">;
  /** Extends a lease. Those of one turn of the event loop share a commit. Resolves with false when it is lost. */
  renew(claim: Claim): Promise<boolean>;
  tools: AttemptTools;
  owner: string;
  settler: Settler;
  log: Log;
  now: () => number;
  monotonic: () => number;
  random: () => number;
  /** Called when capacity may have become free. */
  onCapacity: () => void;
}

// A handler's end frees capacity before its job is settled, so that the settle and the next claim share a commit. While
// the store is slow, at most this many times the concurrency is claimed.
const MAX_UNSETTLED = 64;

/** Tools and the number of runs that use them. */
interface ToolsInUse extends AttemptTools {
  runs: number;
}

/**
 * Creates the attempts of one route: the jobs that a worker has claimed and not yet settled, running or waiting to run.
 * They never throw: failures are logged.
 */
export function createAttempts(options: AttemptsOptions) {
  const { store, owner, settler, log, now, monotonic, random, onCapacity } = options;
  const unsettled = new Set<ClaimedRun>();
  const waiting: ClaimedRun[] = [];
  const prefetch = createPrefetch();
  let tools: ToolsInUse = { ...options.tools, runs: 0 };
  let running = 0;
  /** Those that run and have not asked the breaker yet. */
  let preparing = 0;
  /** Called when a run ends and when a job is settled. */
  let onProgress = () => {};

  function startWaiting(): void {
    while (running < tools.route.concurrency && waiting.length > 0) {
      // The released jobs are claimed again when the target is available.
      if (allowed() <= 0) return void release(waiting.splice(0));
      running++;
      tools.runs++;
      void attempt(waiting.shift() as ClaimedRun, tools);
    }
  }

  const allowed = () => tools.breaker.allowedAttempts(monotonic()) - preparing;

  async function attempt(one: ClaimedRun, used: ToolsInUse): Promise<void> {
    const startedAt = monotonic();
    preparing++;
    const onPrepared = () => preparing--;
    const made = await makeAttempt(one, used, { owner, now, monotonic, random, onPrepared });
    if (made === null) {
      await release([one]);
      return endRun(monotonic() - startedAt, used);
    }
    const { settlement, end } = made;
    void end.then(() => endRun(monotonic() - startedAt, used));
    try {
      await settler.settle(one.job, settlement);
    } catch (error) {
      logFailure(log, one.job, error, "an attempt could not be settled; its lease will expire");
    }
    unsettled.delete(one);
    onProgress();
    onCapacity();
  }

  function endRun(tookMs: number, used: ToolsInUse): void {
    running--;
    used.runs--;
    if (used !== tools) closeIfUnused(used);
    prefetch.noteRun(tookMs);
    startWaiting();
    onCapacity();
    onProgress();
  }

  function closeIfUnused({ runs, handler }: ToolsInUse): void {
    if (runs === 0) void handler.close();
  }

  /** Releases claimed jobs without using up an attempt. If the store fails, their leases expire. */
  async function release(unbegun: readonly ClaimedRun[]): Promise<void> {
    if (unbegun.length === 0) return;
    for (const one of unbegun) unsettled.delete(one);
    try {
      const claims = unbegun.map(({ job: { event, route, attempt } }) => ({ event, route, owner, attempt }));
      await store.release(claims, now());
    } catch (error) {
      log.error({ event: "worker_error", error: describeError(error) }, "claimed jobs could not be released");
    }
  }

  async function renew({ job, interruption }: ClaimedRun): Promise<void> {
    try {
      const { event, route, attempt } = job;
      const isLeased = await options.renew({ event, route, owner, attempt });
      if (!isLeased) interruption.abort(new Error("the lease was lost"));
    } catch (error) {
      logFailure(log, job, error, "a lease could not be renewed");
    }
  }

  function capacityWith(ahead: number): number {
    const { concurrency } = tools.route;
    const free = concurrency - running - waiting.length;
    return Math.min(free + ahead, MAX_UNSETTLED * concurrency - unsettled.size, allowed() - waiting.length);
  }

  return {
    /** Runs claimed jobs, each as soon as there is capacity. */
    start(jobs: readonly ClaimedJob[]): void {
      for (const job of jobs) {
        const one = { job, interruption: new AbortController() };
        unsettled.add(one);
        waiting.push(one);
      }
      startWaiting();
    },
    /**
     * Makes the attempts that begin from now on with other tools. The handler before is closed when its last run has
     * ended.
     */
    use(next: AttemptTools): void {
      const replaced = tools;
      tools = { ...next, runs: 0 };
      closeIfUnused(replaced);
      startWaiting();
    },
    /** The events of the jobs that are not settled. */
    events: () => Array.from(unsettled, ({ job }) => job.event),
    /** How many jobs could start now. */
    freeCapacity: () => capacityWith(0),
    /** How many jobs to claim now: the free capacity and the prefetch. */
    claimLimit: () => capacityWith(prefetch.events(tools.route.concurrency)),
    /** Takes account of how long a claim took. */
    noteClaim: prefetch.noteClaim,
    /** Renews every lease. If a lease is lost, its run is interrupted. */
    renewAll(): void {
      for (const one of unsettled) void renew(one);
    },
    /**
     * Releases jobs that have not started, waits until the rest is settled, and closes the handler. Runs are
     * interrupted when `deadline` resolves. A store that fails then is not asked again.
     */
    async stop(deadline: Promise<void>): Promise<void> {
      await release(waiting.splice(0));
      let isOver = false;
      void deadline.then(() => {
        isOver = true;
        for (const { interruption } of unsettled) interruption.abort(new Error("the server stopped"));
        onProgress();
      });
      // Work that extends a run has the same deadline.
      while (unsettled.size > 0 || (running > 0 && !isOver)) {
        await new Promise<void>((resolve) => {
          onProgress = resolve;
        });
      }
      await tools.handler.close();
    },
  };
}

/** How many times its concurrency a worker claims ahead at most: a crash uses up an attempt of each. */
const MAX_AHEAD = 25;
/** Weight of the newest run or claim in the averages. */
const NEWEST = 0.1;
// Nothing is claimed ahead until runs have proved quick.
const ASSUMED_RUN_MS = 1000;

/**
 * Computes how many events to claim beyond the free capacity: as many as handlers start during two claims, so that
 * quick handlers do not wait for the next one.
 */
function createPrefetch() {
  let runMs = ASSUMED_RUN_MS;
  let claimMs = 0;
  return {
    noteRun(ms: number): void {
      runMs += NEWEST * (ms - runMs);
    },
    noteClaim(ms: number): void {
      claimMs += NEWEST * (ms - claimMs);
    },
    events: (concurrency: number): number => Math.floor(Math.min(MAX_AHEAD, (2 * claimMs) / runMs) * concurrency),
  };
}
