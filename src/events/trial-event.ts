import { randomUUID } from "node:crypto";
import type { NewEvent } from "./store.ts";

/** An event that is stored only to find out whether events can be stored, and is taken back. No source has its name. */
export function trialEvent(receivedAt: number): NewEvent {
  return {
    source: "",
    eventId: randomUUID(),
    type: "trial",
    bytesSha256: null,
    sameWithinMs: null,
    secret: "",
    contentType: "text/plain",
    payload: Buffer.alloc(1),
    address: "",
    headers: "{}",
    receivedAt,
  };
}
