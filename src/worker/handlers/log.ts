import type { Log } from "../../log.ts";
import type { Handler } from "../handler.ts";

/** Logs the id and type of each event. */
export function createLogHandler(log: Log): Handler {
  return {
    async run({ source, eventId, type, route }) {
      log.info({ event: "event_received", source, eventId, type, route }, "event received");
    },
    target: null,
    endsWithSignal: false,
    close: async () => {},
  };
}
