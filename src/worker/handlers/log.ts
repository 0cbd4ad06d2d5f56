import type { Log } from "../../log.ts";
import type { EventHandler } from "../run.ts";

/** Logs each event by id and type: what processing means until there is somewhere to forward to. */
export function createLogHandler(log: Log): EventHandler {
  return async ({ source, eventId, type }) => {
    log.info({ event: "event_received", source, eventId, type }, "event received");
  };
}
