import { describeError } from "../errors.ts";
import type { ClaimedEvent } from "../events/store.ts";
import type { Outcome } from "./decide.ts";

/**
 * Does the work for one event. It may run again for the same event, with the same `eventId` as idempotency key.
 * It fails by throwing. When `signal` aborts its result no longer counts, and it should stop.
 */
export type EventHandler = (event: ClaimedEvent, signal: AbortSignal) => Promise<void>;

const MAX_ERROR_LENGTH = 1000;

/** What ends a run early: the server stops, or the lease is gone. */
export class Interruption extends Error {}

/** Runs the handler within a time limit and never throws. A handler that ignores its signal is left behind. */
export async function runEvent(
  handler: EventHandler,
  event: ClaimedEvent,
  timeoutMs: number,
  interruption: AbortSignal,
): Promise<Outcome> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([timeout, interruption]);
  let onAbort: (() => void) | undefined;
  try {
    signal.throwIfAborted();
    const aborted = new Promise<never>((_, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort, { once: true });
    });
    await Promise.race([handler(event, signal), aborted]);
    return { kind: "succeeded" };
  } catch (error) {
    if (interruption.aborted) return { kind: "interrupted", error: describeError(interruption.reason) };
    if (timeout.aborted) return { kind: "failed", error: `the handler did not finish within ${timeoutMs} ms` };
    return { kind: "failed", error: describeError(error).slice(0, MAX_ERROR_LENGTH) };
  } finally {
    if (onAbort) signal.removeEventListener("abort", onAbort);
  }
}
