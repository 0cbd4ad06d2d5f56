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

/** Whether a policy makes no further attempt after an answer with this status. */
export function givesUpOn({ giveUpOn = [] }: RetryPolicy, status: number): boolean {
  const matching = giveUpOn.filter(({ from, to }) => status >= from && status <= to);
  return matching.length > 0 && !matching.some(({ isExcluded }) => isExcluded);
}
