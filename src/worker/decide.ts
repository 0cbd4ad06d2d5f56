import type { Next } from "../events/event.ts";
import type { ClaimedEvent } from "../events/store.ts";
import { type RetryPolicy, retryDelayMs } from "./backoff.ts";

/** How a handler's run ended. `interrupted`: the server stopped before the handler had. */
export type Outcome =
  | { kind: "succeeded" }
  | { kind: "failed"; error: string }
  | { kind: "interrupted"; error: string };

/**
 * Decides where an attempt leaves its event. One that was interrupted is never the last, and free: it was the server that
 * ended. Its event goes before what has come since.
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
  if (attempt >= policy.attempts)
    return { to: "failed", reason: `attempt ${attempt} of ${policy.attempts}: ${outcome.error}` };
  return { to: "queued", runAt: now + retryDelayMs(policy, attempt, random) };
}
