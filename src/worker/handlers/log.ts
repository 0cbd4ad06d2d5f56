import type { Log } from "../../log.ts";
import type { EventHandler } from "../run.ts";

/** Logs the id and type of each event. This is the handler while `FORWARD_URL` is not set. */
export function createLogHandler(log: Log): EventHandler {
  return async ({ source, eventId, type }) => {
    log.info({ event: "event_received", source, eventId, type }, "event received");
  };
}
