import { type ClaimedJob, LONGEST_WAIT_MS, type Next } from "../events/job.ts";
import { type RetryPolicy, retryDelayMs } from "./backoff.ts";

/**
 * How a handler's run ended. `isUnavailable`: the fault is the target's, whatever the event. `unable`: this machine had
 * not what it takes to try. `interrupted`: the server stopped before the handler had.
 */
export type Outcome =
  | { kind: "succeeded"; response?: string | undefined }
  | {
      kind: "failed";
      error: string;
      isUnavailable?: boolean;
      retryAfterMs?: number | undefined;
      response?: string | undefined;
    }
  | { kind: "unable"; error: string }
  | { kind: "interrupted"; error: string };

/** What there is to know of an attempt beside its outcome. */
export interface AttemptFacts extends Pick<ClaimedJob, "attemptOfBudget" | "receivedAt"> {
  /** It asked whether a target that could not be reached is back. */
  isProbe: boolean;
}

/**
 * Decides where an attempt leaves its job. One that the server itself was the end of is never the last, and free; an
 * job whose attempt was interrupted goes before what has come since. A probe that did not reach its target is free.
 * Times in Unix milliseconds.
 */
export function decide(
  outcome: Outcome,
  { attemptOfBudget: attempt, receivedAt, isProbe }: AttemptFacts,
  policy: RetryPolicy,
  now: number,
  random: number,
): Next {
  if (outcome.kind === "succeeded") return { to: "processed" };
  if (outcome.kind === "interrupted") return { to: "queued", runAt: Math.min(receivedAt, now), isFree: true };
  const delayMs = retryDelayMs(policy, attempt, random);
  if (outcome.kind === "unable") return { to: "queued", runAt: now + delayMs, isFree: true };
  const runAt = now + Math.max(delayMs, Math.min(outcome.retryAfterMs ?? 0, LONGEST_WAIT_MS));
  if (isProbe && outcome.isUnavailable) return { to: "queued", runAt, isFree: true };
  if (attempt >= policy.attempts)
    return { to: "failed", reason: `attempt ${attempt} of ${policy.attempts}: ${outcome.error}` };
  return { to: "queued", runAt };
}
