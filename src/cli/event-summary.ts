import type { EventSummary } from "../events/store.ts";
import { isoTime } from "./output.ts";

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
