import type { Next } from "../events/event.ts";
import type { ClaimedEvent } from "../events/store.ts";
import { type RetryPolicy, retryDelayMs } from "./backoff.ts";

/**
 * How a handler's run ended. `unable`: this machine had not what it takes to try. `interrupted`: the server stopped
 * before the handler had.
 */
export type Outcome =
  | { kind: "succeeded" }
  | { kind: "failed"; error: string }
  | { kind: "unable"; error: string }
  | { kind: "interrupted"; error: string };

/**
 * Decides where an attempt leaves its event. One that the server itself was the end of is never the last, and free; an
 * event whose attempt was interrupted goes before what has come since.
 * Times in Unix milliseconds.
 */
export function decide(
  outcome: Outcome,
  { attemptOfBudget: attempt, receivedAt }: Pick<ClaimedEvent, "attemptOfBudget" | "receivedAt">,
  policy: RetryPolicy,
  now: number,
  random: number,
): Next {
  if (outcome.kind === "succeeded") return { to: "processed" };
  if (outcome.kind === "interrupted") return { to: "queued", runAt: Math.min(receivedAt, now), isFree: true };
  const runAt = now + retryDelayMs(policy, attempt, random);
  if (outcome.kind === "unable") return { to: "queued", runAt, isFree: true };
  if (attempt >= policy.attempts)
    return { to: "failed", reason: `attempt ${attempt} of ${policy.attempts}: ${outcome.error}` };
  return { to: "queued", runAt };
}
