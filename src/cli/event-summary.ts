import type { Status } from "../events/event.ts";
import type { EventSummary } from "../events/store.ts";
import { isoTime } from "./time.ts";

/** How a status looks on a terminal with colours. */
export const STATUS_STYLE = { queued: "yellow", processed: "green", failed: "red" } as const satisfies Record<
  Status,
  string
>;

/** What every command prints of an event: a promise to programs, also in the order of its members. */
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
