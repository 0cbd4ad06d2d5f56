import type { Next } from "./job.ts";
import type { ClaimRequest } from "./store.ts";

/** The error of an attempt whose lease has expired. */
export const LEASE_EXPIRED = "the lease expired: the process ended or hung during the attempt";

/**
 * The next status of a job whose lease has expired: queued for a retry, or failed after the last attempt of its budget.
 */
export function afterExpiredLease(
  attemptOfBudget: number,
  { retryDelaysMs, blocks = false, now }: Pick<ClaimRequest, "retryDelaysMs" | "blocks" | "now">,
): Exclude<Next, { to: "processed" }> {
  const delayMs = retryDelaysMs[attemptOfBudget - 1];
  if (delayMs === undefined) return { to: "failed", reason: LEASE_EXPIRED, blocks };
  return { to: "queued", runAt: now + delayMs };
}

/**
 * What the end of an attempt makes of its job. A free attempt does not count. While a job stays in line, later ones of
 * its key wait. After an erasure there is no further attempt.
 */
export function afterAttempt(next: Next, isErased = false) {
  const isQueued = next.to === "queued";
  if (isErased && next.to !== "processed") {
    const isProbe = isQueued && next.isProbe === true;
    return { status: "discarded" as const, dueAt: null, isFree: false, isProbe, staysInLine: false };
  }
  return {
    status: next.to,
    dueAt: isQueued ? next.runAt : null,
    isFree: isQueued && next.isFree === true,
    isProbe: isQueued && next.isProbe === true,
    staysInLine: isQueued || (next.to === "failed" && next.blocks === true),
  };
}
