import { OperatorError } from "../errors.ts";
import type { EventDetail, JobDetail } from "../events/store.ts";
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
    const { jobs, conflicts, headers, payload, ...facts } = shown;
    for (const [name, value] of Object.entries(facts))
      printData(`${name.padEnd(12)} ${printable(String(value ?? "-"))}`);
    for (const job of jobs) printJob(job);
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

function printJob({
  route,
  status,
  attempts,
  nextAttemptAt,
  deadLetter,
  history,
}: ReturnType<typeof jobForOutput>): void {
  const next = nextAttemptAt === null ? "" : `, the next at ${nextAttemptAt}`;
  printData(`job          ${printable(route)}: ${status}, ${counted(attempts, "attempt")}${next}`);
  if (deadLetter) printData(`deadLetter   ${deadLetter.failedAt} ${printable(deadLetter.reason)}`);
  for (const { attempt, startedAt, outcome, error } of history) {
    printData(`attempt ${attempt}    ${startedAt} ${outcome}${error ? `: ${printable(error)}` : ""}`);
  }
}

function detailForOutput(event: EventDetail) {
  return {
    ...summaryForOutput(event),
    address: event.address,
    contentType: event.contentType,
    headers: event.headers,
    jobs: event.jobs.map(jobForOutput),
    conflicts: event.conflicts.map((conflict) => ({
      ...conflict,
      firstAt: isoTime(conflict.firstAt),
      lastAt: isoTime(conflict.lastAt),
      payload: conflict.payload && textOf(conflict.payload),
    })),
    payload: textOf(event.payload),
  };
}

function jobForOutput({ route, status, attempts, dueAt, leased, lastError, deadLetter, history }: JobDetail) {
  return {
    route,
    status,
    attempts,
    // While it is leased, an attempt is under way.
    nextAttemptAt: leased ? null : isoTime(dueAt),
    leased,
    lastError,
    deadLetter: deadLetter && { ...deadLetter, failedAt: isoTime(deadLetter.failedAt) },
    history: history.map((attempt) => ({
      ...attempt,
      startedAt: isoTime(attempt.startedAt),
      finishedAt: isoTime(attempt.finishedAt),
    })),
  };
}

/** A stored payload, which is UTF-8 without a byte order mark. */
function textOf(payload: Uint8Array): string {
  return Buffer.from(payload).toString("utf8");
}
