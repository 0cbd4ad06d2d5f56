import { type ClaimedJob, LONGEST_WAIT_MS, type Next } from "../events/job.ts";
import { givesUpOn, type RetryPolicy, retryDelayMs } from "./backoff.ts";

/**
 * How a handler's run ended. `isUnavailable`: the target failed, and would fail on any event. `out_of_descriptors`:
 * this process could open no connection. `interrupted`: the server stopped, or the lease was lost, before the handler
 * ended.
 */
export type HandlerOutcome =
  | { kind: "succeeded"; response?: string | undefined }
  | {
      kind: "failed";
      error: string;
      isUnavailable?: boolean;
      /** The HTTP status of the answer. */
      status?: number | undefined;
      retryAfterMs?: number | undefined;
      response?: string | undefined;
    }
  | { kind: "out_of_descriptors"; error: string }
  | { kind: "interrupted"; error: string };

/** What {@link decide} needs to know of an attempt besides its outcome. */
interface AttemptFacts extends Pick<ClaimedJob, "attemptOfBudget" | "receivedAt"> {
  /** The attempt was the breaker's probe of an unavailable target. */
  isProbe: boolean;
  /** A dead letter keeps the later jobs of its ordering key waiting. */
  blocks: boolean;
}

/**
 * Decides the next state of a job. Free attempts do not count towards `policy.attempts`: interrupted ones, those
 * without a file descriptor, and probes that found the target unavailable. An interrupted job runs before jobs of newer
 * events. Times are Unix milliseconds.
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
  const delayMs = retryDelayMs(policy, attempt, random);
  if (outcome.kind === "out_of_descriptors") return { to: "queued", runAt: now + delayMs, isFree: true };
  if (outcome.status !== undefined && givesUpOn(policy, outcome.status))
    return { to: "failed", reason: `attempt ${attempt}, giveUpOn: ${outcome.error}`, blocks };
  const runAt = now + Math.max(delayMs, Math.min(outcome.retryAfterMs ?? 0, LONGEST_WAIT_MS));
  if (isProbe && outcome.isUnavailable) return { to: "queued", runAt, isFree: true };
  if (attempt >= policy.attempts)
    return { to: "failed", reason: `attempt ${attempt} of ${policy.attempts}: ${outcome.error}`, blocks };
  return { to: "queued", runAt };
}
