import { describeError, systemCode } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";
import type { Outcome } from "./decide.ts";

/**
 * Does the work for one event. It may run again for the same event, with the same `eventId` as idempotency key.
 * It returns how the target's answer begins, if there is one, and fails by throwing. When `signal` aborts its result no longer counts, and it should stop. What goes on behind the result
 * is given to `keepPlace`.
 */
// biome-ignore lint/suspicious/noConfusingVoidType: a handler that has no answer returns nothing
export type EventHandler = (event: ClaimedJob, signal: AbortSignal, keepPlace?: KeepPlace) => Promise<string | void>;

/** A handler's failure that says more of its target than that it failed. */
export class TargetError extends Error {
  /** Whether the target could not be reached, or answered that it cannot work now. */
  readonly isUnavailable: boolean;
  /** How long the target wants to be left alone. */
  readonly retryAfterMs: number | undefined;
  /** How its answer begins. */
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

/** Keeps the place of an event among those that run at once until the promise settles. */
export type KeepPlace = (until: Promise<unknown>) => void;

const MAX_ERROR_LENGTH = 1000;

/**
 * Whether this machine had no descriptor left. Whoever opens connections enough brings this about: it says nothing of the
 * event or its target.
 */
export function isOutOfDescriptors(error: unknown): boolean {
  return error instanceof Error && /^E[MN]FILE$/.test(systemCode(error));
}

/** Runs the handler within a time limit and never throws. A handler that ignores its signal is left behind. */
export async function runEvent(
  handler: EventHandler,
  event: ClaimedJob,
  timeoutMs: number,
  interruption: AbortSignal,
): Promise<Outcome> {
  // One controller, not AbortSignal.any and .timeout: those cost more than a quick handler does.
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
  // After the process stood still, what has come for the handler meanwhile is read first.
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
  if (isOutOfDescriptors(error)) return { kind: "unable", error: text };
  if (!(error instanceof TargetError)) return { kind: "failed", error: text };
  const { isUnavailable, retryAfterMs, response } = error;
  return { kind: "failed", error: text, isUnavailable, retryAfterMs, response };
}
