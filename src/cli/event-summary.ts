import type { Status } from "../events/event.ts";
import type { EventSummary } from "../events/store.ts";
import { isoTime } from "./time.ts";

/** The colour of each status. */
export const STATUS_STYLE = { queued: "yellow", processed: "green", failed: "red" } as const satisfies Record<
  Status,
  string
>;

/** The summary of an event in JSON output. Its members and their order are stable. */
export function summaryForOutput(event: EventSummary) {
  const { source, eventId, type, status, attempts, receivedAt, processedAt, lastError } = event;
  return {
    source,
    eventId,
    type,
    status,
    attempts,
    receivedAt: isoTime(receivedAt),
    processedAt: isoTime(processedAt),
    lastError,
  };
}
