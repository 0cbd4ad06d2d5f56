import { OperatorError } from "../errors.ts";
import { discardReasonOf, LONGEST_REASON } from "../events/discard-reason.ts";
import { whyNotDiscarded } from "../events/untaken.ts";
import { type BulkOptions, jobFilter, takeEvents } from "./bulk.ts";

interface DiscardOptions extends BulkOptions {
  reason: string;
  status?: "failed" | "queued";
}

/** Discards the jobs of events that failed or wait, by id or by a filter. The exit code is 1 if an event has none. */
export function runEventsDiscard(ids: string[], options: DiscardOptions): Promise<void> {
  const reason = discardReasonOf(options.reason);
  if (reason === null) {
    const remedy = `give a text of 1 to ${LONGEST_REASON} characters`;
    throw new OperatorError({ found: "--reason is not usable", remedy });
  }
  const filter = jobFilter(ids, options, options.status ?? "failed");
  return takeEvents({ ids, filter }, options, {
    name: "discarded",
    sentence: (count) => `Discarded ${count}.`,
    takePage: ({ events, now }, chosen, page) => events.discardAll(chosen, reason, now(), page),
    takeOne: async ({ events, now }, event) =>
      (await events.discard(event, reason, now())) > 0 ? null : whyNotDiscarded(event),
  });
}
