import { OperatorError } from "../errors.ts";
import { discard } from "../operations/discard.ts";
import { givenReason, MAX_REASON } from "../operations/selection.ts";
import { type BulkOptions, jobFilter, runBulk } from "./bulk.ts";

interface DiscardOptions extends BulkOptions {
  reason: string;
  status?: "failed" | "queued";
}

/** Discards the jobs of events that failed or wait, by id or by a filter. The exit code is 1 if an event has none. */
export function runEventsDiscard(eventIds: string[], options: DiscardOptions): Promise<void> {
  const reason = requireReason(options.reason);
  return runBulk(eventIds, options, {
    operation: discard,
    input: { reason },
    filter: jobFilter(eventIds, options, options.status ?? "failed"),
    member: "discarded",
    done: (events) => `Discarded ${events}.`,
  });
}

/** The reason of a discard or an erasure. Throws {@link OperatorError}. */
export function requireReason(given: string): string {
  const reason = givenReason(given);
  if (reason !== null) return reason;
  const remedy = `give a text of 1 to ${MAX_REASON} characters`;
  throw new OperatorError({ found: "--reason is not usable", remedy });
}
