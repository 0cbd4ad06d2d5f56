import type { NewEvent } from "../src/events/store.ts";

const HEADERS = JSON.stringify({ host: "127.0.0.1", "content-type": "application/json", "content-length": "260" });

/** An event as a delivery of the load generator leaves it. */
export function storedEvent(event: Pick<NewEvent, "eventId" | "type" | "payload" | "receivedAt">): NewEvent {
  return {
    source: "default",
    bytesSha256: null,
    sameWithinMs: null,
    secret: "env:WEBHOOK_SECRET",
    contentType: "application/json",
    address: "127.0.0.1",
    headers: HEADERS,
    ...event,
  };
}
