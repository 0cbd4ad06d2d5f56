import { isKeptFromRoutes } from "../events/captured.ts";
import { payloadJson } from "../events/json.ts";
import { printable, printableLines } from "../lib/printable.ts";
import { shown } from "../operations/events.ts";
import type { OutputOf } from "../operations/operation.ts";
import { openStored } from "../webhook/content/stored-content.ts";
import { explainRouting, type RouteVerdict, reasonOf } from "../worker/routing.ts";
import { readRoutesOf, readSourcesOf } from "./configured.ts";
import { findEvent, noSuchEvent } from "./find-event.ts";
import { ifUsable, requireKnown } from "./find-source.ts";
import { commandConfiguration, type Performer, withPerformer } from "./operate.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { STATUS_STYLE, styled } from "./table.ts";
import { lastingFormat, probeText, timeFormat } from "./time.ts";

interface ShowOptions extends RemoteOptions {
  source?: string;
  config?: string;
  utc?: boolean;
  json?: boolean;
}

type Shown = OutputOf<typeof shown>;
type Job = Shown["jobs"][number];

/** An event as it is printed: with its whole payload, and null where it is unknown what routes say. */
type PrintedEvent = Omit<Shown, "routes" | "payload"> & { payload: string; routes: Shown["routes"] | null };

/** Prints one event with its attempts, origin and payload. Throws `OperatorError` when there is none. */
export async function runEventsShow(eventId: string, options: ShowOptions): Promise<void> {
  const { source, config, utc, json } = options;
  // An event can be shown without a usable configuration.
  const present = remoteServer(options) === null ? await ifUsable(commandConfiguration.routes) : undefined;
  const own = {
    routes: async () => present ?? [],
    sources: async () => (await ifUsable(commandConfiguration.sources)) ?? [],
  };
  const show = async (performer: Performer) => {
    const { perform, now } = performer;
    await requireKnown(performer, { source });
    const name = await findEvent(perform, { eventId, source });
    if (!name) throw noSuchEvent(eventId);
    const event = await perform(shown, { id: name.eventId, source: name.source });
    const payload = await payloadOf(event, performer);
    const isKnown = present !== null || config !== undefined;
    const routes = config === undefined ? event.routes : verdictsOn(event, payload, config);
    const printed = { ...event, routes: isKnown ? routes : null, ...payloadJson(payload) };
    if (json) return printJson(printed);
    printDetail(printed, payload.length, times(utc, now()));
    if (!isKnown) say("Why routes do not take it is unknown: run authserve config check.");
    if (event.conflicts.length > 0) say("To see the bytes of the conflicts, use --json.");
    if (event.repeats.length > 0) say("To see the headers of the repeats, use --json.");
  };
  return withPerformer(options, show, own);
}

/** The bytes of a payload. Those of a large one are not in the answer. */
async function payloadOf(event: Shown, { stores, server }: Performer): Promise<Uint8Array> {
  const { eventId, source, payload, payloadBase64 } = event;
  if (payloadBase64 !== undefined) return Buffer.from(payloadBase64, "base64");
  if (payload !== null) return Buffer.from(payload);
  if (server !== null) return server.bytes("events/-/payload", { id: eventId, source });
  const [stored] = await stores.events.get(eventId, source);
  return stored?.payload ?? new Uint8Array();
}

/** What the routes of a configuration file say of an event. */
function verdictsOn(event: Shown, payload: Uint8Array, config: string): RouteVerdict[] {
  const takesNone = isKeptFromRoutes(event, event.origin === "api" ? readSourcesOf(config) : []);
  const { contentType, headers, erased } = event;
  const routes = erased === null ? readRoutesOf(config) : [];
  return explainRouting(routes, event, openStored({ payload, contentType, headers }), { takesNone });
}

/** How times are shown: a time, and how long a state has lasted since a time. Null is no time. */
interface Times {
  time(at: string): string;
  lasting(since: string | null): string;
  probe(at: string | null): string;
}

function times(utc: boolean | undefined, now: number): Times {
  const [time, lasting] = [timeFormat(utc, now), lastingFormat(utc, now)];
  return {
    time: (at) => time(Date.parse(at)),
    lasting: (since) => lasting(Date.parse(since ?? "")),
    probe: (at) => probeText(at === null ? null : Date.parse(at), now),
  };
}

const NAME_WIDTH = 10;

function printFact(name: string, value: string): void {
  printData(`${styled("bold", name.padEnd(NAME_WIDTH))}${value}`);
}

function printDetail(event: PrintedEvent, bytes: number, times: Times): void {
  const { status, erased, malformed } = event;
  const { time } = times;
  printFact("event", printable(event.eventId));
  printFact("type", printable(event.type));
  printFact("source", printable(event.source));
  printFact("status", styled(STATUS_STYLE[status], status));
  printFact("received", `${time(event.receivedAt)}${event.address === "" ? "" : ` from ${printable(event.address)}`}`);
  if (event.origin === "api") printFact("origin", "the API of the provider: nobody signed it");
  else printFact("secret", printable(event.secret));
  if (erased !== null) {
    printFact("erased", styled("yellow", `${time(erased.erasedAt)}: ${printable(erased.reason)}`));
    printFact("payload", `erased, sha256 ${erased.payloadSha256}`);
  }
  for (const job of event.jobs) printJob(job, times);
  const taken = new Set(event.jobs.map(({ route }) => route));
  for (const verdict of event.routes ?? []) if (!taken.has(verdict.route)) printVerdict(verdict);
  for (const conflict of event.conflicts) printConflict(conflict, time);
  for (const repeat of event.repeats) printRepeat(repeat, time);
  for (const [name, value] of Object.entries(event.headers)) printFact("header", printable(`${name}: ${value}`));
  if (erased !== null) return;
  if (malformed !== null) printFact("malformed", styled("yellow", `the payload ${malformed}`));
  printFact("payload", `${counted(bytes, "byte")} of ${printable(event.contentType)}`);
  printData(printableLines(event.payload));
}

function printJob(job: Job, times: Times): void {
  const { route, deadLetter, discarded, history, waits } = job;
  const { time } = times;
  printFact("route", `${printable(route)}, ${attemptsText(job)}`);
  if (waits) printFact("waits", waitingText(waits, job, times));
  for (const attempt of history) printAttempt(attempt, time);
  if (discarded)
    printData(`  ${time(discarded.discardedAt)}  ${styled("yellow", "discarded")}  ${printable(discarded.reason)}`);
  if (deadLetter)
    printData(`  ${time(deadLetter.failedAt)}  ${styled("red", "dead letter")}  ${printable(deadLetter.reason)}`);
}

/** Why a route has no job of the event. */
function printVerdict(verdict: Shown["routes"][number]): void {
  const reason = reasonOf(verdict) ?? "it would take the event now: see events replay --force";
  printFact("not by", printable(`${verdict.route}: ${reason}`));
}

/** The attempts of a job: those that its policy counts since the last replay, all, and those that cost nothing. */
function attemptsText({ attempts, replays, budget, probes }: Job): string {
  const used =
    budget.of === null ? counted(budget.used, "attempt") : `${budget.used} of ${counted(budget.of, "attempt")}`;
  return [
    replays === 0 ? used : `replay ${replays}: ${used}`,
    ...(attempts > budget.used ? [`${attempts} in all`] : []),
    ...(probes === 0 ? [] : [`and ${counted(probes, "probe")}`]),
  ].join(", ");
}

function waitingText(
  { reason, since, until, event }: NonNullable<Job["waits"]>,
  job: Job,
  { time, lasting, probe }: Times,
): string {
  const route = printable(job.route);
  switch (reason) {
    case "running":
      return "an attempt is running";
    case "paused":
      return `for the route, paused ${lasting(since)}${until === null ? "" : `, which ends ${time(until)}`}: authserve routes resume ${route}`;
    case "earlier_event": {
      const failed = event?.status === "failed" ? ", which failed: replay or discard it" : "";
      const of = event?.source === "default" ? "" : ` of ${printable(event?.source ?? "")}`;
      return `behind ${printable(event?.eventId ?? "")}${of} for the key ${printable(job.orderingKey ?? "")}${failed}`;
    }
    case "target_unavailable":
      return `for the target, unavailable ${lasting(since)}, ${probe(until)}: authserve routes try ${route}`;
    case "delay":
      return `the next attempt ${time(until ?? "")}`;
    case "due":
      return "due: a running server takes it next";
  }
}

const OUTCOME_STYLE = { succeeded: "green", failed: "red", lease_expired: "yellow" } as const;

type Attempt = Job["history"][number];

/** Which attempt it is, e.g. `attempt 2 of replay 1`. */
function nameOf({ attempt, replay, attemptOfBudget, isProbe }: Attempt): string {
  const name = isProbe ? "probe" : `attempt ${attemptOfBudget ?? attempt}`;
  return replay ? `${name} of replay ${replay}` : name;
}

function printAttempt(attempt: Attempt, time: Times["time"]): void {
  const { startedAt, finishedAt, outcome, error, response, responseStatus } = attempt;
  const took = `${Math.max(0, Date.parse(finishedAt) - Date.parse(startedAt))} ms`;
  const end = styled(OUTCOME_STYLE[outcome], outcome.replace("_", " "));
  // The error of a failed attempt names the status.
  const status = outcome === "succeeded" && responseStatus !== null ? `  with ${responseStatus}` : "";
  printData(
    `  ${time(startedAt)}  ${nameOf(attempt)}  ${took}  ${end}${status}${error === null ? "" : `  ${printable(error)}`}`,
  );
  if (response !== null) printData(printableLines(response).replace(/^/gm, "    > "));
}

function printConflict(
  { number, firstAt, deliveries, payloadSha256 }: Shown["conflicts"][number],
  time: Times["time"],
): void {
  const times = counted(deliveries, "delivery", "deliveries");
  printFact("conflict", `${number}: ${time(firstAt)}, ${times} of different bytes, sha256 ${payloadSha256}`);
}

function printRepeat(
  { number, firstAt, deliveries, eventId, replayedAs }: Shown["repeats"][number],
  time: Times["time"],
): void {
  const times = counted(deliveries, "delivery", "deliveries");
  const event = replayedAs === null ? "" : `, replayed as ${printable(replayedAs)}`;
  printFact("repeat", `${number}: ${time(firstAt)}, ${times} of the same bytes as ${printable(eventId)}${event}`);
}
