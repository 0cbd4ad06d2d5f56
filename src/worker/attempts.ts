import { setTimeout as delay } from "node:timers/promises";
import { createBatcher } from "../batch.ts";
import { describeError } from "../errors.ts";
import type { ClaimedEvent, EventStore, Settlement } from "../events/store.ts";
import type { Log } from "../log.ts";
import { Slots } from "../slots.ts";
import type { RetryPolicy } from "./backoff.ts";
import { decide } from "./decide.ts";
import { type EventHandler, runEvent } from "./run-event.ts";

/** Told of each attempt whose end is recorded; `isHeld` is false when its lease was lost, and with it the result. */
export type OnSettled = (event: ClaimedEvent, settlement: Settlement, isHeld: boolean) => void;

/** What attempts are made with; the members are those of the worker's options. */
export interface AttemptsOptions {
  store: Pick<EventStore, "renew" | "release" | "settle">;
  handler: EventHandler;
  policy: RetryPolicy;
  /** Handlers at once. */
  concurrency: number;
  handlerTimeoutMs: number;
  leaseMs: number;
  owner: string;
  log: Log;
  now: () => number;
  random: () => number;
  onSettled: OnSettled;
  /** Told when there may be room again. */
  onRoom: () => void;
  /** Told when an attempt has failed and when the next is due. */
  onRetry: (runAt: number) => void;
}

/** The events that a worker has claimed and not yet settled: those that run, and those that run next. */
export interface Attempts {
  /** Takes over what was claimed; each runs when a place is free. */
  take(events: readonly ClaimedEvent[]): void;
  /** The events that are held. */
  ids(): number[];
  /** How many may be claimed now, so that all of them run at once. */
  places(): number;
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

// A store that fails is asked again at this pace, so that a broken disk does not spin the loop.
export const STORE_RETRY_MS = 1000;

// As many events are claimed beyond the places as handlers begin in this time, which a trip to the store and back takes.
const AHEAD_MS = 5;
const MAX_AHEAD = 3;
/** Weight of the newest run in the average. */
const NEWEST = 0.1;
// Nothing is claimed ahead until runs have proved quick.
const ASSUMED_RUN_MS = 1000;

// A place is free as soon as a handler ends, so that its settle and the next claim share a commit; a slow store bounds it.
const MAX_UNSETTLED = 8;

/**
 * Creates the attempts of one worker: runs handlers within `concurrency`, settles what has ended, and logs it. Throws
 * nothing: what the store throws is logged, and tried again where the work would otherwise be done twice.
 */
export function createAttempts(options: AttemptsOptions): Attempts {
  const { store, handler, policy, concurrency, leaseMs, owner, log, now, random } = options;

  /** What is claimed and not yet settled, with the way to interrupt it. */
  const held = new Slots<{ event: ClaimedEvent; interruption: AbortController }>();
  const next: { event: ClaimedEvent; signal: AbortSignal; slot: number }[] = [];
  let running = 0;
  let averageMs = ASSUMED_RUN_MS;
  let ending = false;
  const settlements = createBatcher((batch: Settlement[]) => store.settle(batch));
  /** Told when a place is free and when an attempt is settled. */
  let onLess = () => {};

  function begin(): void {
    while (running < concurrency) {
      const first = next.shift();
      if (first === undefined) return;
      void attempt(first);
    }
  }

  async function attempt({ event, signal, slot }: (typeof next)[number]): Promise<void> {
    try {
      await settle(event, await run(event, signal));
    } catch (error) {
      logError(event, error, "an attempt could not be settled; its lease will run out");
    }
    held.take(slot);
    onLess();
    options.onRoom();
  }

  async function run(event: ClaimedEvent, interruption: AbortSignal): Promise<Settlement> {
    const startedAt = now();
    const kept: Promise<unknown>[] = [];
    running++;
    const outcome = await runEvent(
      (claimed, signal) => handler(claimed, signal, (until) => kept.push(until)),
      event,
      options.handlerTimeoutMs,
      interruption,
    );
    const finishedAt = now();
    void Promise.allSettled(kept).then(() => freePlace(startedAt));
    return {
      id: event.id,
      owner,
      attempt: event.attempt,
      next: decide(outcome, event, policy, finishedAt, random()),
      startedAt,
      finishedAt,
      error: outcome.kind === "succeeded" ? null : outcome.error,
    };
  }

  function freePlace(takenAt: number): void {
    running--;
    // A clock that was set back makes no run shorter than nothing.
    averageMs += NEWEST * (Math.max(0, now() - takenAt) - averageMs);
    begin();
    options.onRoom();
    onLess();
  }

  async function settle(event: ClaimedEvent, settlement: Settlement): Promise<void> {
    const isHeld = await record(event, settlement);
    options.onSettled(event, settlement, isHeld);
    if (!isHeld) {
      log.warn({ event: "lease_lost", ...labels(event) }, "the lease was lost: another worker has the event");
      return;
    }
    const { next: outcome, startedAt, finishedAt, error } = settlement;
    switch (outcome.to) {
      case "processed":
        log.info(
          { event: "event_processed", ...labels(event), durationMs: Math.max(0, finishedAt - startedAt) },
          "event processed",
        );
        break;
      case "queued":
        log.warn(
          { event: "event_retried", ...labels(event), error, runAt: new Date(outcome.runAt).toISOString() },
          "attempt failed; will retry",
        );
        options.onRetry(outcome.runAt);
        break;
      case "failed":
        logDeadLetter(log, event, event.attempt, error);
    }
  }

  /** Records the end of an attempt. A store that fails is asked again for as long as it takes: what was done is not done twice. */
  async function record(event: ClaimedEvent, settlement: Settlement): Promise<boolean> {
    for (let tries = 1; ; tries++) {
      try {
        return await settlements.add(settlement);
      } catch (error) {
        if (ending) throw error;
        if (tries === 1) logError(event, error, "an attempt could not be recorded; trying again until it can");
        await delay(STORE_RETRY_MS);
      }
    }
  }

  /** What was claimed ahead loses no attempt. Where the store fails, the leases run out. */
  async function giveBack(unbegun: typeof next): Promise<void> {
    if (unbegun.length === 0) return;
    for (const { slot } of unbegun) held.take(slot);
    try {
      await store.release(
        unbegun.map(({ event: { id, attempt } }) => ({ id, owner, attempt })),
        now(),
      );
    } catch (error) {
      log.error({ event: "worker_error", error: describeError(error) }, "events could not be given back");
    }
  }

  function placesAnd(ahead: number): number {
    return Math.min(concurrency - running - next.length + ahead, MAX_UNSETTLED * concurrency - held.size);
  }

  function logError(event: ClaimedEvent, error: unknown, message: string): void {
    log.error({ event: "worker_error", ...labels(event), error: describeError(error) }, message);
  }

  return {
    take(events) {
      for (const event of events) {
        const interruption = new AbortController();
        next.push({ event, signal: interruption.signal, slot: held.put({ event, interruption }) });
      }
      begin();
    },
    ids: () => Array.from(held, ({ event }) => event.id),
    places: () => placesAnd(0),
    room: () => placesAnd(Math.floor(Math.min(MAX_AHEAD, AHEAD_MS / averageMs) * concurrency)),
    renewAll() {
      for (const { event, interruption } of held) {
        store.renew({ id: event.id, owner, attempt: event.attempt }, leaseMs, now()).then(
          (isHeld) => {
            if (!isHeld) interruption.abort(new Error("the lease was lost"));
          },
          (error) => logError(event, error, "a lease could not be renewed"),
        );
      }
    },
    async end(deadlineMs) {
      ending = true;
      await giveBack(next.splice(0));
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
      await settlements.flush();
    },
  };
}

function labels({ source, eventId, type, attempt }: ClaimedEvent) {
  return { source, eventId, type, attempt };
}

/** Writes the log line of an event that has become a dead letter. */
export function logDeadLetter(
  log: Log,
  { source, eventId, type }: Pick<ClaimedEvent, "source" | "eventId" | "type">,
  attempt: number,
  error: string | null,
): void {
  log.error(
    { event: "event_dead_lettered", source, eventId, type, attempt, error },
    "event dead-lettered: attempts are used up",
  );
}
