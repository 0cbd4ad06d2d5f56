import { AUDIT_ACTIONS } from "../../src/audit/store.ts";
import { LOG_EVENTS } from "../../src/log-events.ts";
import { code, codes, page, table } from "./markdown.ts";

/** The page of log events and of the actions of the audit. */
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
    "## Actions of the audit",
    "What the rows of the [audit](../private-payloads.md#audit) name.",
    table(
      ["action", "meaning"],
      Object.entries(AUDIT_ACTIONS).map(([action, meaning]) => [code(action), meaning]),
    ),
  );
}
