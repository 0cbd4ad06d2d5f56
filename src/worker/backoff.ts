/** How often a failed event is retried, and after which delays. */
export interface RetryPolicy {
  /** Attempts before an event is dead-lettered. */
  attempts: number;
  backoff: "exponential" | "linear";
  delayMs: number;
  /** The longest delay. */
  maxDelayMs: number;
  /** Share of the delay that is added or subtracted at random: 0.2 is up to 20 % either way. */
  jitter: number;
}

/**
 * The delay before the next attempt, in milliseconds. Exponential doubles the delay each time, linear keeps it.
 * `failedAttempts` counts from 1; `random` is in [0, 1).
 */
export function retryDelayMs(policy: RetryPolicy, failedAttempts: number, random: number): number {
  const factor = policy.backoff === "exponential" ? 2 ** (failedAttempts - 1) : 1;
  const delayMs = Math.min(policy.delayMs * factor, policy.maxDelayMs);
  return Math.min(Math.round(delayMs * (1 + policy.jitter * (2 * random - 1))), policy.maxDelayMs);
}

/** The delay of {@link retryDelayMs} after each attempt except the last. */
export function retryDelaysMs(policy: RetryPolicy, random: () => number): number[] {
  return Array.from({ length: policy.attempts - 1 }, (_, index) => retryDelayMs(policy, index + 1, random()));
}
