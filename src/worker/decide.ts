import { type ClaimedJob, MAX_WAIT_MS, type Next } from "../events/job.ts";

/**
 * How an attempt ended. `isUnavailable`: the target failed, and would fail on any event. `unable`: this process could
 * open no connection, or start no thread. `unsendable`: what is sent cannot be made of the event. `not_taken`: the
 * route does not take the event. `interrupted`: the server stopped, or the lease was lost, before the handler ended.
 */
export type HandlerOutcome =
  | { kind: "succeeded"; status?: number | undefined; response?: string | undefined }
  | {
      kind: "failed";
      error: string;
      isUnavailable?: boolean;
      /** The HTTP status of the response. */
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      response?: string | undefined;
    }
  | { kind: "unable"; error: string }
  | { kind: "unsendable"; error: string }
  | { kind: "not_taken"; error: string }
  | { kind: "interrupted"; error: string };

/** What {@link decide} needs to know of an attempt besides its outcome. */
interface AttemptFacts extends Pick<ClaimedJob, "attemptOfBudget" | "receivedAt"> {
  /** The attempt was the breaker's probe of an unavailable target. */
  isProbe: boolean;
  /** A dead letter keeps the later jobs of its ordering key waiting. */
  blocks: boolean;
}

/**
 * Decides the next state of a job. Free attempts do not count towards `policy.attempts`: interrupted ones, those that
 * this process could not make, and probes that found the target unavailable. An interrupted job runs before jobs of
 * newer events. What cannot be sent is not retried. Times are Unix milliseconds.
 */
export function decide(
  outcome: HandlerOutcome,
  { attemptOfBudget: attempt, receivedAt, isProbe, blocks }: AttemptFacts,
  policy: RetryPolicy,
  now: number,
  random: number,
): Next {
  if (outcome.kind === "succeeded") return { to: "processed" };
  if (outcome.kind === "interrupted") return { to: "queued", runAt: Math.min(receivedAt, now), isFree: true };
  if (outcome.kind === "not_taken") return { to: "failed", reason: outcome.error };
  if (outcome.kind === "unsendable")
    return { to: "failed", reason: `attempt ${attempt}, not retried: ${outcome.error}`, blocks };
  const delayMs = retryDelayMs(policy, attempt, random);
  if (outcome.kind === "unable") return { to: "queued", runAt: now + delayMs, isFree: true };
  if (outcome.status !== undefined && givesUpOn(policy, outcome.status))
    return { to: "failed", reason: `attempt ${attempt}, giveUpOn: ${outcome.error}`, blocks };
  const runAt = now + Math.max(delayMs, Math.min(outcome.retryAfterMs ?? 0, MAX_WAIT_MS));
  if (isProbe && outcome.isUnavailable) return { to: "queued", runAt, isFree: true, isProbe: true };
  // The policy may have allowed more when the attempt before was made: this one is the last then.
  if (attempt >= policy.attempts)
    return { to: "failed", reason: `attempt ${attempt} of ${attempt}: ${outcome.error}`, blocks };
  return { to: "queued", runAt };
}

/** How often a failed event is retried, and after which delays. */
export type RetryPolicy = Backoff & {
  /** Attempts before an event is dead-lettered. */
  attempts: number;
  /** Share of the delay that is added or subtracted at random: 0.2 is up to 20 % either way. */
  jitter: number;
  /** HTTP statuses that end the attempts at once. A status in an excluded range never does. */
  giveUpOn?: readonly StatusRange[];
};

/** Delays between attempts: computed, or listed. With a list the last one repeats. */
type Backoff =
  | { backoff: "exponential" | "linear"; delayMs: number /** The longest delay. */; maxDelayMs: number }
  | { backoff: "list"; delaysMs: readonly number[] };

/** HTTP statuses, both bounds included. */
export interface StatusRange {
  from: number;
  to: number;
  isExcluded: boolean;
}

/**
 * The delay before the next attempt, in milliseconds. Exponential doubles the delay each time, linear keeps it.
 * `failedAttempts` counts from 1; `random` is in [0, 1).
 */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random: number): number {
  const factor = 1 + policy.jitter * (2 * random - 1);
  if (policy.backoff === "list") {
    const { delaysMs } = policy;
    return Math.round((delaysMs[Math.min(failedAttempts, delaysMs.length) - 1] ?? 0) * factor);
  }
  const growth = policy.backoff === "exponential" ? 2 ** (failedAttempts - 1) : 1;
  const delayMs = Math.min(policy.delayMs * growth, policy.maxDelayMs);
  return Math.min(Math.round(delayMs * factor), policy.maxDelayMs);
}

/** The delay of {@link retryDelayMs} after each attempt except the last. */
export function retryDelaysMs(policy: RetryPolicy, random: () => number): number[] {
  return Array.from({ length: policy.attempts - 1 }, (_, index) => retryDelayMs(policy, index + 1, random()));
}

/** Whether a policy makes no further attempt after a response with this status. */
function givesUpOn({ giveUpOn = [] }: RetryPolicy, status: number): boolean {
  const matching = giveUpOn.filter(({ from, to }) => status >= from && status <= to);
  return matching.length > 0 && !matching.some(({ isExcluded }) => isExcluded);
}
