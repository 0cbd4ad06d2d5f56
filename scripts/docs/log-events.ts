import { LOG_EVENTS } from "../../src/log-events.ts";
import { code, codes, page, table } from "./markdown.ts";

/** The page of log events. */
export function logEventsPage(): string {
  return page(
    "Log events",
    "Each line of the log is a JSON object with `level`, `time` (ISO 8601), `event`, `message` and the fields below.",
    "No line has a payload, signature, secret, password, token or e-mail address. A field is left out when it has no value.",
    table(
      ["event", "level", "meaning", "fields"],
      Object.entries(LOG_EVENTS).map(([name, event]) => [
        code(name),
        "orLevel" in event ? `${event.level}, ${event.orLevel}` : event.level,
        event.meaning,
        codes(event.fields),
      ]),
    ),
  );
}
