import { parseDurationMs } from "../config/duration.ts";
import { OperatorError } from "../errors.ts";
import type { Status } from "../events/event.ts";
import type { EventDetail, EventFilter, EventStore, EventSummary } from "../events/store.ts";
import { printable } from "../printable.ts";
import { counted, isoTime, printData, printJson, printTable, say } from "./output.ts";
import { withStores } from "./stores.ts";

interface ListOptions {
  status?: Status;
  type?: string;
  source?: string;
  since?: string;
  limit: string;
  json?: boolean;
}

export function runEventsList(options: ListOptions): Promise<void> {
  const filter = toFilter(options, Date.now());
  return withStores(async ({ events }) => {
    const found = (await events.list(filter)).map(summaryForOutput);
    if (options.json) return printJson(found);
    printTable(
      ["RECEIVED", "STATUS", "ATTEMPTS", "SOURCE", "TYPE", "EVENT ID", "LAST ERROR"],
      found.map((event) => [
        event.receivedAt,
        event.status,
        String(event.attempts),
        event.source,
        event.type,
        event.eventId,
        event.lastError ?? "",
      ]),
    );
    if (found.length === filter.limit) say(`The newest ${filter.limit}; more with --limit.`);
  });
}

/** Reads the options of `events list`; a bad one is an {@link OperatorError} that names it. */
function toFilter({ status, type, source, since, limit }: ListOptions, now: number): EventFilter {
  if (!/^[1-9][0-9]{0,5}$/.test(limit)) throw new OperatorError("--limit is a whole number from 1 to 999999");
  return {
    limit: Number(limit),
    ...(status === undefined ? {} : { status }),
    ...(type === undefined ? {} : { type }),
    ...(source === undefined ? {} : { source }),
    ...(since === undefined ? {} : { since: toTime(since, now) }),
  };
}

const ISO_TIME =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?$/;

function toTime(text: string, now: number): number {
  const ago = parseDurationMs(text);
  if (ago !== null) return now - ago;
  const time = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
  // Date.parse takes 31 February for 3 March.
  const day = Number(text.slice(8, 10));
  if (Number.isNaN(time) || new Date(`${text.slice(0, 10)}T00:00:00Z`).getUTCDate() !== day)
    throw new OperatorError("--since is a duration or a time, e.g. 1h or 2026-01-31T12:00:00Z");
  return time;
}

function summaryForOutput(event: EventSummary) {
  const { source, eventId, type, status, attempts, receivedAt, processedAt, lastError } = event;
  return {
    source,
    eventId,
    type,
    status,
    attempts,
    receivedAt: isoTime(receivedAt),
    processedAt: isoTime(processedAt),
    lastError,
  };
}

interface OneOptions {
  source?: string;
  json?: boolean;
}

export function runEventsShow(eventId: string, { source, json }: OneOptions): Promise<void> {
  return withStores(async ({ events }) => {
    const shown = detailForOutput(await findOne(events, eventId, source));
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
    printData(printable(payload));
  });
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
    })),
    payload: Buffer.from(event.payload).toString("utf8"),
  };
}

/** The event with this id; an id that two sources share needs `--source`. */
async function findOne(events: EventStore, eventId: string, source: string | undefined): Promise<EventDetail> {
  const found = await events.get(eventId, source);
  const [event] = found;
  if (!event) throw new OperatorError(`There is no event ${printable(eventId)}: see authserve events list`, 1);
  if (found.length > 1) {
    throw new OperatorError(
      `${printable(eventId)} is in the sources ${found.map((one) => one.source).join(", ")}: name one with --source`,
    );
  }
  return event;
}

interface ReplayOptions extends OneOptions {
  deadLetter?: boolean;
  force?: boolean;
}

export function runEventsReplay(eventIds: string[], options: ReplayOptions): Promise<void> {
  const { deadLetter = false, source, force = false, json } = options;
  if (deadLetter === eventIds.length > 0) {
    throw new OperatorError("Name the events to replay, or --dead-letter for all that failed, not both");
  }
  if (deadLetter && (source !== undefined || force))
    throw new OperatorError("--dead-letter takes no --source and no --force");
  return withStores(async ({ events }) => {
    if (deadLetter) {
      const replayed = await events.replay({ deadLetters: true }, Date.now());
      return json ? printJson({ replayed, refused: [] }) : say(`${replayed} replayed.`);
    }
    const refused: { eventId: string; reason: string }[] = [];
    let replayed = 0;
    for (const eventId of eventIds) {
      const reason = await replayOne(events, eventId, source, force);
      if (reason === null) replayed++;
      else refused.push({ eventId, reason });
    }
    if (json) printJson({ replayed, refused });
    else {
      for (const { eventId, reason } of refused) say(`${printable(eventId)}: ${reason}`);
      say(`${replayed} replayed.`);
    }
    if (refused.length > 0) process.exitCode = 1;
  });
}

/** Replays one event. Returns why it was not, or null. */
async function replayOne(
  events: EventStore,
  eventId: string,
  source: string | undefined,
  force: boolean,
): Promise<string | null> {
  let event: EventDetail;
  try {
    event = await findOne(events, eventId, source);
  } catch (error) {
    if (error instanceof OperatorError && error.exitCode === 1) return "there is no such event";
    throw error;
  }
  const replayed = await events.replay({ eventId, source: event.source, evenIfProcessed: force }, Date.now());
  if (replayed > 0) return null;
  if (event.status === "processed")
    return "is processed: its effects would happen again; --force replays it all the same";
  return "is queued already";
}

export function runEventsStats({ json }: { json?: boolean }): Promise<void> {
  return withStores(async ({ events }) => {
    const { oldestQueuedAt, ...counts } = await events.counts();
    const shown = { ...counts, oldestQueuedAt: isoTime(oldestQueuedAt) };
    if (json) printJson(shown);
    else printTable(Object.keys(shown), [Object.values(shown).map((value) => String(value ?? "-"))]);
  });
}
