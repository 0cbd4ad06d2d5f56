import { SettingsError } from "../errors.ts";
import { isKeptFromRoutes, originOf } from "../events/captured.ts";
import type { AttemptRecord } from "../events/job.ts";
import { detailJson, malformedOf, payloadJson, payloadText, type Surroundings } from "../events/json.ts";
import type { Conflict, EventDetail, JobDetail, Repeat } from "../events/store.ts";
import { type Waiting, waitingOf } from "../events/waiting.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { openStored } from "../webhook/content/stored-content.ts";
import { explainRouting, type RouteVerdict, reasonOf } from "../worker/routing.ts";
import { findEvent, noSuchEvent } from "./find-event.ts";
import { requireFiltered, requireFilteredThere } from "./find-source.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { remoteEvents } from "./remote-events.ts";
import { attemptsOfRoutes, readRoutesOf, readSourcesOf } from "./routes.ts";
import { withStores } from "./stores.ts";
import { STATUS_STYLE, styled } from "./table.ts";
import { lastingFormat, probeText, timeFormat } from "./time.ts";

interface ShowOptions extends RemoteOptions {
  source?: string;
  config?: string;
  utc?: boolean;
  json?: boolean;
}

/** Prints one event with its attempts, origin and payload. Throws `OperatorError` when there is none. */
export function runEventsShow(eventId: string, options: ShowOptions): Promise<void> {
  const { source, config } = options;
  const server = remoteServer(options);
  if (server !== null) return showRemote(server, eventId, options);
  return withStores(async (stores) => {
    const { events, now } = stores;
    await requireFiltered(stores, { source });
    const event = await findEvent(events, { eventId, source });
    if (!event) throw noSuchEvent(eventId);
    const routes = event.erased === null ? verdictsOn(event, config) : [];
    const unavailable = await events.unavailableRoutes(now());
    const around = { unavailable, attemptsOf: attemptsOfRoutes(), now: now() };
    printEvent(event, { routes, around }, options);
  });
}

async function showRemote(server: RemoteServer, eventId: string, options: ShowOptions): Promise<void> {
  const { source, config } = options;
  await requireFilteredThere(server, { source });
  const event = await findEvent(remoteEvents(server), { eventId, source });
  if (!event) throw noSuchEvent(eventId);
  const routes = config === undefined ? event.verdicts : verdictsOn(event, config);
  printEvent(event, { routes, around: event.around }, options);
}

function printEvent(event: EventDetail, known: Known, { utc, json }: ShowOptions): void {
  const { routes, around } = known;
  if (json) {
    printJson({ ...detailJson(event, around), routes, ...payloadJson(event.payload) });
    return;
  }
  printDetail(event, known, { time: timeFormat(utc, around.now), lasting: lastingFormat(utc, around.now) });
  if (routes === null) say("Why routes do not take it is unknown: run authserve config check.");
  if (event.conflicts.length > 0) say("To see the bytes of the conflicts, use --json.");
  if (event.repeats.length > 0) say("To see the headers of the repeats, use --json.");
}

/** What the routes of a configuration file say of an event; null if it is the present one and has faults. */
function verdictsOn(event: EventDetail, config: string | undefined): RouteVerdict[] | null {
  try {
    const takesNone = originOf(event.secret) === "api" && isKeptFromRoutes(event, readSourcesOf(config));
    return explainRouting(readRoutesOf(config), event, openStored(event), { takesNone });
  } catch (error) {
    if (config === undefined && error instanceof SettingsError) return null;
    throw error;
  }
}

type FormatTime = (ms: number) => string;

/** A time, and how long a state has lasted since a time. */
interface Times {
  time: FormatTime;
  lasting: FormatTime;
}

const NAME_WIDTH = 10;

function printFact(name: string, value: string): void {
  printData(`${styled("bold", name.padEnd(NAME_WIDTH))}${value}`);
}

interface Known {
  /** Null if it is unknown. */
  routes: readonly RouteVerdict[] | null;
  around: Surroundings;
}

function printDetail(event: EventDetail, { routes, around }: Known, times: Times): void {
  const { status, payload } = event;
  const { time } = times;
  printFact("event", printable(event.eventId));
  printFact("type", printable(event.type));
  printFact("source", printable(event.source));
  printFact("status", styled(STATUS_STYLE[status], status));
  printFact("received", `${time(event.receivedAt)}${event.address === "" ? "" : ` from ${printable(event.address)}`}`);
  if (originOf(event.secret) === "api") printFact("origin", "the API of the provider: nobody signed it");
  else printFact("secret", printable(event.secret));
  if (event.erased !== null) {
    const { erasedAt, reason, payloadSha256 } = event.erased;
    printFact("erased", styled("yellow", `${time(erasedAt)}: ${printable(reason)}`));
    printFact("payload", `erased, sha256 ${payloadSha256}`);
  }
  for (const job of event.jobs) printJob(job, around, times);
  const taken = new Set(event.jobs.map(({ route }) => route));
  for (const verdict of routes ?? []) if (!taken.has(verdict.route)) printVerdict(verdict);
  for (const conflict of event.conflicts) printConflict(conflict, time);
  for (const repeat of event.repeats) printRepeat(repeat, time);
  for (const [name, value] of Object.entries(event.headers)) printFact("header", printable(`${name}: ${value}`));
  if (event.erased !== null) return;
  const malformed = malformedOf(event);
  if (malformed !== null) printFact("malformed", styled("yellow", `the payload ${malformed}`));
  printFact("payload", `${counted(payload.length, "byte")} of ${printable(event.contentType)}`);
  printData(printableLines(payloadText(payload)));
}

function printJob(job: JobDetail, { attemptsOf, unavailable, now }: Surroundings, { time, lasting }: Times): void {
  const { route, deadLetter, discarded, history } = job;
  printFact("route", `${printable(route)}, ${attemptsText(job, attemptsOf(route))}`);
  const waiting = waitingOf(job, unavailable, now);
  if (waiting) printFact("waits", waitingText(waiting, job, { time, lasting }, now));
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

/** The attempts of a job: those that its policy counts, and those that cost nothing. */
function attemptsText({ attempts, attemptsOfBudget, probes }: JobDetail, allowed: number | null): string {
  const used =
    allowed === null ? counted(attemptsOfBudget, "attempt") : `${attemptsOfBudget} of ${counted(allowed, "attempt")}`;
  const earlier = attempts - attemptsOfBudget;
  return [
    used,
    ...(probes === 0 ? [] : [`and ${counted(probes, "probe")}`]),
    ...(earlier > 0 ? [`and ${earlier} before the replay`] : []),
  ].join(", ");
}

function waitingText(waiting: Waiting, job: JobDetail, { time, lasting }: Times, now: number): string {
  const route = printable(job.route);
  switch (waiting.reason) {
    case "running":
      return "an attempt is running";
    case "paused":
      return `for the route, paused ${lasting(waiting.since)}${pauseEnd(waiting.until, time)}: authserve routes resume ${route}`;
    case "earlier_event": {
      const { eventId, source, status } = waiting.event;
      const failed = status === "failed" ? ", which failed: replay or discard it" : "";
      const of = source === "default" ? "" : ` of ${printable(source)}`;
      return `behind ${printable(eventId)}${of} for the key ${printable(job.orderingKey ?? "")}${failed}`;
    }
    case "target_unavailable":
      return `for the target, unavailable ${lasting(waiting.since)}, ${probeText(waiting.until, now)}: authserve routes try ${route}`;
    case "delay":
      return `the next attempt ${time(waiting.until)}`;
    case "due":
      return "due: a running server takes it next";
  }
}

const pauseEnd = (until: number | null, time: FormatTime) => (until === null ? "" : `, which ends ${time(until)}`);

const OUTCOME_STYLE = { succeeded: "green", failed: "red", lease_expired: "yellow" } as const;

function printAttempt(
  { attempt, startedAt, finishedAt, outcome, error, response, responseStatus, isProbe }: AttemptRecord,
  time: FormatTime,
): void {
  const took = `${Math.max(0, finishedAt - startedAt)} ms`;
  const end = styled(OUTCOME_STYLE[outcome], outcome.replace("_", " "));
  // The error of a failed attempt names the status.
  const status = outcome === "succeeded" && responseStatus !== null ? `  with ${responseStatus}` : "";
  printData(
    `  ${time(startedAt)}  ${isProbe ? "probe" : `attempt ${attempt}`}  ${took}  ${end}${status}${error === null ? "" : `  ${printable(error)}`}`,
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
