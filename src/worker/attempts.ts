import { describeError } from "../errors.ts";
import type { ClaimedJob, Settlement } from "../events/job.ts";
import type { EventStore } from "../events/store.ts";
import type { Log } from "../log.ts";
import type { RetryPolicy } from "./backoff.ts";
import type { Breaker, Permit } from "./breaker.ts";
import { decide, type Outcome } from "./decide.ts";
import { createLookahead } from "./pacing.ts";
import { type EventHandler, runEvent } from "./run.ts";
import { logFailure, type Settling } from "./settling.ts";

/** What attempts are made with; the members are those of the worker's options. */
export interface AttemptsOptions {
  store: Pick<EventStore, "renew" | "release">;
  handler: EventHandler;
  policy: RetryPolicy;
  /** Handlers at once. */
  concurrency: number;
  handlerTimeoutMs: number;
  leaseMs: number;
  owner: string;
  settling: Settling;
  breaker: Breaker;
  log: Log;
  now: () => number;
  random: () => number;
  /** Told when there may be room again. */
  onRoom: () => void;
}

/** The jobs that a worker has claimed and not yet settled: those that run, and those that run next. */
export interface Attempts {
  /** Takes over what was claimed; each runs when a place is free. */
  take(jobs: readonly ClaimedJob[]): void;
  /** The events whose jobs are held. */
  events(): number[];
  /** How many may be claimed now, so that all of them run at once. */
  places(): number;
  /** When there is a place again that time alone gives back; null when there is none. */
  nextPlaceAt(): number | null;
  /** How many may be claimed now, so that quick handlers need not wait for the next claim. */
  room(): number;
  /** Renews every lease; one that is lost ends its run. */
  renewAll(): void;
  /**
   * Gives back what has not begun and waits until the rest is settled; interrupts what still runs after the deadline. A
   * store that fails is not asked again.
   */
  end(deadlineMs: number): Promise<void>;
}

// A place is free as soon as a handler ends, so that its settle and the next claim share a commit; a slow store bounds it.
const MAX_UNSETTLED = 8;

/** A claimed job, and the way to interrupt its run. */
interface Held {
  job: ClaimedJob;
  interruption: AbortController;
}

/** Creates the attempts of one worker. They throw nothing: what fails is logged. */
export function createAttempts(options: AttemptsOptions): Attempts {
  const { store, concurrency, leaseMs, owner, settling, breaker, log, now, onRoom } = options;
  const held = new Set<Held>();
  const waiting: Held[] = [];
  const lookahead = createLookahead(concurrency);
  let running = 0;
  /** Told when a place is free and when an attempt is settled. */
  let onLess = () => {};

  function begin(): void {
    while (running < concurrency && waiting.length > 0) {
      const permit = breaker.begin(now());
      // Those behind it are claimed again when the target is back.
      if (permit === null) return void giveBack(waiting.splice(0));
      running++;
      void attempt(waiting.shift() as Held, permit);
    }
  }

  async function attempt(one: Held, permit: Permit): Promise<void> {
    const startedAt = now();
    const { settlement, end } = await makeAttempt(one, permit, startedAt, options);
    void end.then(() => freePlace(now() - startedAt));
    try {
      await settling.settle(one.job, settlement);
    } catch (error) {
      logFailure(log, one.job, error, "an attempt could not be settled; its lease will run out");
    }
    held.delete(one);
    onLess();
    onRoom();
  }

  function freePlace(tookMs: number): void {
    running--;
    // A clock that was set back makes no run shorter than nothing.
    lookahead.noteRun(Math.max(0, tookMs));
    begin();
    onRoom();
    onLess();
  }

  /** What was claimed ahead loses no attempt. Where the store fails, the leases run out. */
  async function giveBack(unbegun: readonly Held[]): Promise<void> {
    if (unbegun.length === 0) return;
    for (const one of unbegun) held.delete(one);
    try {
      const claims = unbegun.map(({ job: { event, route, attempt } }) => ({ event, route, owner, attempt }));
      await store.release(claims, now());
    } catch (error) {
      log.error({ event: "worker_error", error: describeError(error) }, "events could not be given back");
    }
  }

  async function renew({ job, interruption }: Held): Promise<void> {
    try {
      const { event, route, attempt } = job;
      const isHeld = await store.renew({ event, route, owner, attempt }, leaseMs, now());
      if (!isHeld) interruption.abort(new Error("the lease was lost"));
    } catch (error) {
      logFailure(log, job, error, "a lease could not be renewed");
    }
  }

  function placesAnd(ahead: number): number {
    const free = concurrency - running - waiting.length;
    return Math.min(free + ahead, MAX_UNSETTLED * concurrency - held.size, breaker.places(now()) - waiting.length);
  }

  return {
    take(jobs) {
      for (const job of jobs) {
        const one = { job, interruption: new AbortController() };
        held.add(one);
        waiting.push(one);
      }
      begin();
    },
    events: () => Array.from(held, ({ job }) => job.event),
    places: () => placesAnd(0),
    nextPlaceAt: breaker.probeAt,
    room: () => placesAnd(lookahead.events()),
    renewAll() {
      for (const one of held) void renew(one);
    },
    async end(deadlineMs) {
      settling.giveUp();
      await giveBack(waiting.splice(0));
      let isOver = false;
      const deadline = setTimeout(() => {
        isOver = true;
        for (const { interruption } of held) interruption.abort(new Error("the server stopped"));
        onLess();
      }, deadlineMs);
      // What goes on behind a result gets the same time.
      while (held.size > 0 || (running > 0 && !isOver)) {
        await new Promise<void>((resolve) => {
          onLess = resolve;
        });
      }
      clearTimeout(deadline);
      await settling.flush();
    },
  };
}

/** Runs the handler once and decides what becomes of the job. `end` resolves when nothing of the run goes on. */
async function makeAttempt(
  { job, interruption }: Held,
  permit: Permit,
  startedAt: number,
  { handler, handlerTimeoutMs, policy, owner, breaker, now, random }: AttemptsOptions,
): Promise<{ settlement: Settlement; end: Promise<unknown> }> {
  const goingOn: Promise<unknown>[] = [];
  const outcome = await runEvent(
    (claimed, signal) => handler(claimed, signal, (until) => goingOn.push(until)),
    job,
    handlerTimeoutMs,
    interruption.signal,
  );
  const finishedAt = now();
  // Out of descriptors, no target can be reached: each event would be tried in vain, with a log line.
  if (outcome.kind === "interrupted") breaker.forget(permit);
  else breaker.end(permit, isReached(outcome), finishedAt);
  const { attemptOfBudget, receivedAt } = job;
  const settlement = {
    event: job.event,
    route: job.route,
    owner,
    attempt: job.attempt,
    next: decide(outcome, { attemptOfBudget, receivedAt, isProbe: permit === "probe" }, policy, finishedAt, random()),
    startedAt,
    finishedAt,
    error: outcome.kind === "succeeded" ? null : outcome.error,
    response: "response" in outcome ? outcome.response : undefined,
  };
  return { settlement, end: Promise.allSettled(goingOn) };
}

/** Whether the target answered for itself. */
function isReached(outcome: Outcome): boolean {
  return outcome.kind === "succeeded" || (outcome.kind === "failed" && !outcome.isUnavailable);
}
