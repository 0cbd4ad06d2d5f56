import { OperatorError } from "../errors.ts";
import { discarding, givenReason, MAX_REASON } from "../events/actions.ts";
import { type BulkOptions, jobFilter, runBulk } from "./bulk.ts";

interface DiscardOptions extends BulkOptions {
  reason: string;
  status?: "failed" | "queued";
}

/** Discards the jobs of events that failed or wait, by id or by a filter. The exit code is 1 if an event has none. */
export function runEventsDiscard(eventIds: string[], options: DiscardOptions): Promise<void> {
  const reason = givenReason(options.reason);
  if (reason === null) {
    const remedy = `give a text of 1 to ${MAX_REASON} characters`;
    throw new OperatorError({ found: "--reason is not usable", remedy });
  }
  return runBulk(eventIds, options, {
    filter: jobFilter(eventIds, options, options.status ?? "failed"),
    action: (events, now) => discarding(events, reason, now),
    change: { path: "events/discard", body: { reason } },
    audited: { action: "events.discard", detail: { reason } },
    member: "discarded",
    done: (events) => `Discarded ${events}.`,
  });
}
