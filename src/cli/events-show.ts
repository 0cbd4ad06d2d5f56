import { OperatorError } from "../errors.ts";
import type { EventDetail } from "../events/store.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { summaryForOutput } from "./event-summary.ts";
import { findEvent } from "./find-event.ts";
import { counted, isoTime, printData, printJson, say } from "./output.ts";
import { withStores } from "./stores.ts";

interface ShowOptions {
  source?: string;
  json?: boolean;
}

/** Prints one event with its attempts, origin and payload. Throws {@link OperatorError} when there is none. */
export function runEventsShow(eventId: string, { source, json }: ShowOptions): Promise<void> {
  return withStores(async ({ events }) => {
    const event = await findEvent(events, { eventId, source });
    if (!event) throw new OperatorError(`There is no event ${printable(eventId)}: ${whereIdsAre(eventId)}`, 1);
    const shown = detailForOutput(event);
    if (json) return printJson(shown);
    const { attemptHistory, conflicts, headers, payload, deadLetter, ...facts } = shown;
    for (const [name, value] of Object.entries(facts))
      printData(`${name.padEnd(12)} ${printable(String(value ?? "-"))}`);
    if (deadLetter) printData(`deadLetter   ${deadLetter.failedAt} ${printable(deadLetter.reason)}`);
    for (const { attempt, startedAt, outcome, error } of attemptHistory) {
      printData(`attempt ${attempt}    ${startedAt} ${outcome}${error ? `: ${printable(error)}` : ""}`);
    }
    for (const conflict of conflicts) {
      const deliveries = counted(conflict.deliveries, "delivery", "deliveries");
      printData(`conflict     ${conflict.firstAt} ${deliveries} of other bytes, sha256 ${conflict.payloadSha256}`);
    }
    for (const [name, value] of Object.entries(headers)) printData(`header       ${printable(`${name}: ${value}`)}`);
    printData(printableLines(payload));
    if (conflicts.length > 0) say("The other bytes are printed with --json.");
  });
}

/** Who gives an id as the table shows it, escaped, would only find it there again. */
function whereIdsAre(eventId: string): string {
  const isEscaped = /\\u\{[0-9a-f]+\}/.test(eventId);
  return isEscaped ? "authserve events list --json prints ids exactly" : "see authserve events list";
}

function detailForOutput(event: EventDetail) {
  return {
    ...summaryForOutput(event),
    dueAt: isoTime(event.dueAt),
    leased: event.leased,
    address: event.address,
    contentType: event.contentType,
    headers: event.headers,
    attemptHistory: event.history.map((attempt) => ({
      ...attempt,
      startedAt: isoTime(attempt.startedAt),
      finishedAt: isoTime(attempt.finishedAt),
    })),
    deadLetter: event.deadLetter && { ...event.deadLetter, failedAt: isoTime(event.deadLetter.failedAt) },
    conflicts: event.conflicts.map((conflict) => ({
      ...conflict,
      firstAt: isoTime(conflict.firstAt),
      lastAt: isoTime(conflict.lastAt),
      payload: conflict.payload && textOf(conflict.payload),
    })),
    payload: textOf(event.payload),
  };
}

/** A stored payload, which is UTF-8 without a byte order mark. */
function textOf(payload: Uint8Array): string {
  return Buffer.from(payload).toString("utf8");
}
