import { describeError, systemCode } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";
import type { Outcome } from "./decide.ts";

/**
 * Processes one event. It may run again for the same event, with the same `eventId` as idempotency key.
 * Returns the beginning of the target's answer, if there is one; throws to fail the attempt. When `signal` aborts, the
 * handler should stop: its result is ignored. Work that continues after the result is passed to `waitUntil`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler without an answer returns nothing
export type EventHandler = (event: ClaimedJob, signal: AbortSignal, waitUntil?: WaitUntil) => Promise<string | void>;

/** A handler's failure, with what is known of the target. */
export class TargetError extends Error {
  /** Whether the target could not be reached, or answered that it is unavailable. */
  readonly isUnavailable: boolean;
  /** The wait that the target asked for. */
  readonly retryAfterMs: number | undefined;
  /** The beginning of its answer. */
  readonly response: string | undefined;

  constructor(message: string, options: TargetErrorOptions) {
    super(message, { cause: options.cause });
    this.name = "TargetError";
    this.isUnavailable = options.isUnavailable;
    this.retryAfterMs = options.retryAfterMs;
    this.response = options.response;
  }
}

interface TargetErrorOptions {
  isUnavailable: boolean;
  retryAfterMs?: number | undefined;
  response?: string | undefined;
  cause?: unknown;
}

/** Counts the run as running, for the concurrency limit, until the promise settles. */
export type WaitUntil = (until: Promise<unknown>) => void;

const MAX_ERROR_LENGTH = 1000;

/**
 * Whether no file descriptor was left. Clients with many connections can cause this: neither the event nor its target is at
 * fault.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && /^E[MN]FILE$/.test(systemCode(error));
}

/** Runs the handler within a time limit and never throws. It does not wait for a handler that ignores its signal. */
export async function runEvent(
  handler: EventHandler,
  event: ClaimedJob,
  timeoutMs: number,
  interruption: AbortSignal,
): Promise<Outcome> {
  // One controller: AbortSignal.any and AbortSignal.timeout cost more time than a quick handler.
  const abort = new AbortController();
  let ended: Outcome | undefined;
  let giveUp: () => void = () => {};
  const givenUp = new Promise<undefined>((resolve) => {
    giveUp = () => resolve(undefined);
  });
  const end = (outcome: Outcome & { error: string }) => {
    ended ??= outcome;
    abort.abort(new Error(outcome.error));
    giveUp();
  };
  const onInterruption = () => end({ kind: "interrupted", error: describeError(interruption.reason) });
  const onTimeout = () => {
    end({ kind: "failed", error: `the handler did not finish within ${timeoutMs} ms`, isUnavailable: true });
  };
  let late: NodeJS.Immediate | undefined;
  // After a pause of the process, input that has arrived for the handler is read before the time-out counts.
  const timer = setTimeout(() => {
    late = setImmediate(onTimeout);
  }, timeoutMs);
  interruption.addEventListener("abort", onInterruption);
  try {
    if (interruption.aborted) onInterruption();
    const response = interruption.aborted ? undefined : await Promise.race([handler(event, abort.signal), givenUp]);
    return ended ?? { kind: "succeeded", response: response ?? undefined };
  } catch (error) {
    return ended ?? failure(error);
  } finally {
    clearTimeout(timer);
    clearImmediate(late);
    interruption.removeEventListener("abort", onInterruption);
  }
}

function failure(error: unknown): Outcome {
  const text = describeError(error).slice(0, MAX_ERROR_LENGTH);
  if (isOutOfDescriptors(error)) return { kind: "out_of_descriptors", error: text };
  if (!(error instanceof TargetError)) return { kind: "failed", error: text };
  const { isUnavailable, retryAfterMs, response } = error;
  return { kind: "failed", error: text, isUnavailable, retryAfterMs, response };
}
