import { SettingsError } from "../errors.ts";
import type { AttemptRecord } from "../events/job.ts";
import { detailJson, malformedOf, payloadJson, payloadText } from "../events/json.ts";
import type { Conflict, EventDetail, JobDetail, Repeat } from "../events/store.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { openStored } from "../webhook/intake/stored-content.ts";
import { explainRouting, type RouteVerdict, reasonOf } from "../worker/routing.ts";
import { findEvent, noSuchEvent } from "./find-event.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { readRoutesOf } from "./routes.ts";
import { withStores } from "./stores.ts";
import { STATUS_STYLE, styled } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ShowOptions {
  source?: string;
  config?: string;
  utc?: boolean;
  json?: boolean;
}

/** Prints one event with its attempts, origin and payload. Throws `OperatorError` when there is none. */
export function runEventsShow(eventId: string, { source, config, utc, json }: ShowOptions): Promise<void> {
  return withStores(async ({ events }) => {
    const event = await findEvent(events, { eventId, source });
    if (!event) throw noSuchEvent(eventId);
    const routes = verdictsOn(event, config);
    if (json) return printJson({ ...detailJson(event), routes, ...payloadJson(event.payload) });
    printDetail(event, routes, timeFormat(utc, Date.now()));
    if (routes === null) say("Why routes do not take it is unknown: run authserve config check.");
    if (event.conflicts.length > 0) say("To see the bytes of the conflicts, use --json.");
    if (event.repeats.length > 0) say("To see the headers of the repeats, use --json.");
  });
}

/** What the routes of a configuration file say of an event; null if it is the present one and has faults. */
function verdictsOn(event: EventDetail, config: string | undefined): RouteVerdict[] | null {
  try {
    return explainRouting(readRoutesOf(config), event, openStored(event));
  } catch (error) {
    if (config === undefined && error instanceof SettingsError) return null;
    throw error;
  }
}

type FormatTime = (ms: number) => string;

const NAME_WIDTH = 10;

function printFact(name: string, value: string): void {
  printData(`${styled("bold", name.padEnd(NAME_WIDTH))}${value}`);
}

function printDetail(event: EventDetail, routes: readonly RouteVerdict[] | null, time: FormatTime): void {
  const { status, payload } = event;
  printFact("event", printable(event.eventId));
  printFact("type", printable(event.type));
  printFact("source", printable(event.source));
  printFact("status", styled(STATUS_STYLE[status], status));
  printFact("received", `${time(event.receivedAt)} from ${printable(event.address)}`);
  printFact("secret", printable(event.secret));
  for (const job of event.jobs) printJob(job, time);
  const taken = new Set(event.jobs.map(({ route }) => route));
  for (const verdict of routes ?? []) if (!taken.has(verdict.route)) printVerdict(verdict);
  for (const conflict of event.conflicts) printConflict(conflict, time);
  for (const repeat of event.repeats) printRepeat(repeat, time);
  for (const [name, value] of Object.entries(event.headers)) printFact("header", printable(`${name}: ${value}`));
  const malformed = malformedOf(event);
  if (malformed !== null) printFact("malformed", styled("yellow", `the payload ${malformed}`));
  printFact("payload", `${counted(payload.length, "byte")} of ${printable(event.contentType)}`);
  printData(printableLines(payloadText(payload)));
}

function printJob(job: JobDetail, time: FormatTime): void {
  const { route, attempts, deadLetter, discarded, history } = job;
  printFact("route", `${printable(route)}, ${counted(attempts, "attempt")}${nextAttempt(job, time)}`);
  for (const attempt of history) printAttempt(attempt, time);
  if (discarded)
    printData(`  ${time(discarded.discardedAt)}  ${styled("yellow", "discarded")}  ${printable(discarded.reason)}`);
  if (deadLetter)
    printData(`  ${time(deadLetter.failedAt)}  ${styled("red", "dead letter")}  ${printable(deadLetter.reason)}`);
}

/** Why a route has no job of the event. */
function printVerdict(verdict: RouteVerdict): void {
  const reason = reasonOf(verdict) ?? "it would take the event now: see events replay --force";
  printFact("not by", printable(`${verdict.route}: ${reason}`));
}

function nextAttempt({ status, dueAt, leased, orderingKey }: JobDetail, time: FormatTime): string {
  if (leased) return ", one is running";
  if (dueAt !== null) return `, the next ${time(dueAt)}`;
  return status === "queued" ? `, waits for earlier events of ${printable(orderingKey ?? "")}` : "";
}

const OUTCOME_STYLE = { succeeded: "green", failed: "red", lease_expired: "yellow" } as const;

function printAttempt(
  { attempt, startedAt, finishedAt, outcome, error, response }: AttemptRecord,
  time: FormatTime,
): void {
  const took = `${Math.max(0, finishedAt - startedAt)} ms`;
  const end = styled(OUTCOME_STYLE[outcome], outcome.replace("_", " "));
  printData(
    `  ${time(startedAt)}  attempt ${attempt}  ${took}  ${end}${error === null ? "" : `  ${printable(error)}`}`,
  );
  if (response !== null) printData(printableLines(response).replace(/^/gm, "    > "));
}

function printConflict({ number, firstAt, deliveries, payloadSha256 }: Conflict, time: FormatTime): void {
  const times = counted(deliveries, "delivery", "deliveries");
  printFact("conflict", `${number}: ${time(firstAt)}, ${times} of different bytes, sha256 ${payloadSha256}`);
}

function printRepeat({ number, firstAt, deliveries, eventId, replayedAs }: Repeat, time: FormatTime): void {
  const times = counted(deliveries, "delivery", "deliveries");
  const event = replayedAs === null ? "" : `, replayed as ${printable(replayedAs)}`;
  printFact("repeat", `${number}: ${time(firstAt)}, ${times} of the same bytes as ${printable(eventId)}${event}`);
}
