/** How often a failed event is tried again, and after which waits. */
export interface RetryPolicy {
  /** Attempts before an event is dead-lettered. */
  attempts: number;
  backoff: "exponential" | "linear";
  delayMs: number;
  /** No wait is longer. */
  maxDelayMs: number;
  /** Share of the delay that chance may add or take: 0.2 is ±20 %. */
  jitter: number;
}

/**
 * The wait before the next attempt, in milliseconds. Exponential doubles the delay each time, linear keeps it.
 * `failedAttempts` counts from 1; `random` is in [0, 1).
 */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random: number): number {
  const factor = policy.backoff === "exponential" ? 2 ** (failedAttempts - 1) : 1;
  const delayMs = Math.min(policy.delayMs * factor, policy.maxDelayMs);
  return Math.min(Math.round(delayMs * (1 + policy.jitter * (2 * random - 1))), policy.maxDelayMs);
}

/** The waits of {@link retryDelayMs} behind every attempt but the last. */
export function retryDelaysMs(policy: RetryPolicy, random: () => number): number[] {
  return Array.from({ length: policy.attempts - 1 }, (_, index) => retryDelayMs(policy, index + 1, random()));
}
