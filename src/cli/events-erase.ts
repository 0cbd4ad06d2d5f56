import { setTimeout as delay } from "node:timers/promises";
import { auditedSelection } from "../audit/selection.ts";
import { OperatorError } from "../errors.ts";
import { givenReason, MAX_REASON } from "../events/actions.ts";
import {
  type EraseFilter,
  type EraseOptions,
  type EraseReceipt,
  eraseNamed,
  erasePage,
  eventsOfId,
  sweep,
} from "../events/erase.ts";
import type { Remains } from "../events/erasure.ts";
import type { Status } from "../events/event.ts";
import type { EventName, EventStore } from "../events/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import { spellingsOf } from "../lib/spellings.ts";
import { eraseHeld } from "../webhook/held/erase.ts";
import { findEvent, type ReadEvents } from "./find-event.ts";
import { requireFiltered, requireFilteredThere } from "./find-source.ts";
import { makeChange } from "./make-change.ts";
import { eventConditions, type FilterOptions } from "./option-values.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { type Erased, eraseThere } from "./remote-erase.ts";
import { sayReplaced } from "./replaced-files.ts";
import { PAUSE_MS, withStores } from "./stores.ts";

interface Options extends FilterOptions, RemoteOptions {
  search?: string;
  status?: Status;
  reason: string;
  dryRun?: boolean;
  json?: boolean;
}

const FILTERS = ["search", "status", "type", "source", "since", "until", "error"] as const;

/** Erases the contents of events, by id or by a filter, and prints a receipt. The exit code is 1 if one is refused. */
export async function runEventsErase(ids: string[], options: Options): Promise<void> {
  const { dryRun: isDryRun = false, json } = options;
  const reason = givenReason(options.reason);
  if (reason === null)
    throw new OperatorError({
      found: "--reason is not usable",
      remedy: `give a text of 1 to ${MAX_REASON} characters`,
    });
  const filter = filterOf(ids, options);
  const server = remoteServer(options);
  if (server === null) return eraseHere(ids, filter, { ...options, reason });
  await requireFilteredThere(server, options);
  const stop = interruption();
  const { next, ...found } = await eraseThere(
    server,
    { ids, source: options.source, filters: filter && spelledFilters(filter), reason, isDryRun },
    stop.isAsked,
  );
  stop.end();
  sayIfInterrupted(next);
  // What it has erased, it has written to its own audit.
  print({ reason, isDryRun, ...found, now: Date.now() }, json);
}

/** Erases in the stores of this machine. */
function eraseHere(ids: readonly string[], filter: EraseFilter | null, options: Options): Promise<void> {
  const { dryRun: isDryRun = false, reason, source, json } = options;
  return withStores(async (stores) => {
    const { events, held, encryption, now } = stores;
    await requireFiltered(stores, options);
    const how: EraseOptions = { reason, now, isDryRun };
    const names: ReadEvents<EventName> = {
      get: (eventId, of) => eventsOfId(events, eventId, of),
      startingWith: events.startingWith,
    };
    const find = async (eventId: string) =>
      (await findEvent(names, { eventId, source })) ?? ("there is no such event" as const);
    const make = async () => {
      if (filter === null) {
        const named = await eraseNamed(events, ids, find, how);
        return { ...named, removed: await eraseHeld(held, { events: named.erased }, isDryRun) };
      }
      const erased: EraseReceipt[] = [];
      const removed: Awaited<ReturnType<typeof eraseHeld>> = [];
      const stop = interruption();
      let next: string | null = null;
      for (const spelled of spelledFilters(filter)) {
        const pages = await erasePages(events, spelled, how, stop.isAsked);
        erased.push(...pages.erased);
        removed.push(...(await eraseHeld(held, { events: pages.erased, ...searchOf(spelled) }, isDryRun)));
        next = pages.next;
        if (next !== null) break;
      }
      stop.end();
      sayIfInterrupted(next);
      return { erased, removed, refused: [] };
    };
    const selection = auditedSelection(filter === null ? { ids, source } : { filter });
    const { erased, refused, removed } = await makeChange(stores, {
      action: "events.erase",
      asked: { ...selection, reason },
      isDryRun,
      make,
      outcome: (done) => ({ events: done.erased.length, held: done.removed.length }),
    });
    const remains = isDryRun ? null : await sweep(events);
    const missingKeys = filter?.search === undefined ? [] : await encryption.missingKeys();
    const receipt = { events: erased.map(timesOf), held: removed.map(timesOf), refused, remains, missingKeys };
    print({ reason, isDryRun, ...receipt, now: now() }, json);
    sayReplaced(stores.settings);
  });
}

/** An event or a held delivery with its times as texts. */
const timesOf = <Item extends { receivedAt: number; erasedAt?: number | null }>({
  receivedAt,
  erasedAt,
  ...item
}: Item) => ({
  ...item,
  receivedAt: isoTime(receivedAt),
  ...(erasedAt !== undefined && { erasedAt: isoTime(erasedAt) }),
});

/** The filter of a command without event ids. Throws {@link OperatorError} if there is none, or one beside ids. */
function filterOf(ids: readonly string[], options: Options): EraseFilter | null {
  const given = FILTERS.filter((name) => options[name] !== undefined);
  if (ids.length > 0) {
    const other = given.find((name) => name !== "source");
    if (other === undefined) return null;
    throw new OperatorError({
      found: `--${other} cannot be used with event ids`,
      remedy: "give event ids, or a filter",
    });
  }
  if (given.length === 0)
    throw new OperatorError({ found: "No events are given", remedy: "give event ids, or a filter such as --search" });
  if (options.search === "")
    throw new OperatorError({ found: "--search is empty", remedy: "give a part of the payloads" });
  const { search, status } = options;
  return {
    ...eventConditions(options, Date.now()),
    ...(search === undefined ? {} : { search }),
    ...(status === undefined ? {} : { status }),
  };
}

/** Held deliveries have no type, status or error: with one of these only the bytes of erased events are looked for. */
function searchOf(filter: EraseFilter | null) {
  const { search: text, source, since, until, type, status, error } = filter ?? {};
  const isOfEvents = type !== undefined || status !== undefined || error !== undefined;
  return text === undefined || isOfEvents ? {} : { search: { text, source, since, until } };
}

/** Erases page by page until it is asked to stop after one. `next` is null if all is done. */
async function erasePages(events: EventStore, filter: EraseFilter, how: EraseOptions, isStopAsked: () => boolean) {
  const erased: EraseReceipt[] = [];
  let cursor: string | undefined;
  do {
    const page = await erasePage(events, filter, { ...how, cursor });
    erased.push(...page.erased);
    cursor = page.next ?? undefined;
    if (cursor !== undefined) await delay(PAUSE_MS);
  } while (cursor !== undefined && !isStopAsked());
  return { erased, next: cursor ?? null };
}

/** A filter for each way in which payloads spell a searched text. */
const spelledFilters = (filter: EraseFilter): EraseFilter[] =>
  filter.search === undefined ? [filter] : spellingsOf(filter.search).map((search) => ({ ...filter, search }));

/** Notes Ctrl+C instead of ending the process at once. */
function interruption(): { isAsked(): boolean; end(): void } {
  let isAsked = false;
  const interrupt = () => {
    isAsked = true;
  };
  process.once("SIGINT", interrupt);
  return { isAsked: () => isAsked, end: () => void process.off("SIGINT", interrupt) };
}

function sayIfInterrupted(next: string | null): void {
  if (next === null) return;
  say("Interrupted: this receipt is of what was done. Run it again to go on.");
  process.exitCode = 1;
}

interface Result extends Erased {
  reason: string;
  isDryRun: boolean;
  now: number;
}

function print(result: Result, json = false): void {
  const { events, held, refused } = result;
  // A dry run finds what is spelled in two ways twice.
  const receipt = receiptOf({
    ...result,
    events: [...new Map(events.map((event) => [`${event.source} ${event.eventId}`, event])).values()],
    held: [...new Map(held.map((delivery) => [delivery.id, delivery])).values()],
  });
  if (json) printJson({ ...receipt, refused });
  else printReceipt(receipt, result.missingKeys.length > 0);
  for (const { eventId, reason } of json ? [] : refused) say(`${printable(eventId)}: ${reason}`);
  if (refused.length > 0) process.exitCode = 1;
}

/** The receipt in JSON output. Its members and their order are stable. */
const receiptOf = ({ reason, isDryRun, events, held, remains, missingKeys, now }: Result) => ({
  dryRun: isDryRun,
  reason,
  events: events.map(({ source, eventId, payloadSha256, receivedAt, erasedAt, running }) => ({
    ...{ source, eventId, payloadSha256, receivedAt, erasedAt, running },
  })),
  held: held.map(({ id, source, bodySha256, receivedAt }) => ({ id, source, bodySha256, receivedAt })),
  remains,
  notCovered: [
    `backups made before ${isoTime(now)}`,
    "logs",
    "what targets and listeners received",
    ...missingKeys.map((key) => `payloads that are encrypted with ${key}, which ENCRYPTION_KEYS does not have`),
  ],
});

const REMAINS: Record<Remains, string> = {
  write_ahead_log:
    "The write-ahead log is in use and may still hold the bytes. A server empties it once nothing is written for a minute.",
  dead_rows: "PostgreSQL keeps the old rows in its files until VACUUM FULL of the tables, see the page on erasure.",
};

function printReceipt(
  { dryRun: isDryRun, events, held, remains, notCovered }: ReturnType<typeof receiptOf>,
  isUnsearched: boolean,
): void {
  for (const { eventId, source, payloadSha256, receivedAt, erasedAt, running } of events) {
    const attempts = running === 0 ? "" : `, ${counted(running, "attempt")} running`;
    printData(
      `${printable(eventId)} of ${printable(source)}, sha256 ${payloadSha256}, received ${receivedAt}${erasedAt === null ? "" : `, erased ${erasedAt}`}${attempts}`,
    );
  }
  for (const { id, source, bodySha256, receivedAt } of held)
    printData(`held delivery ${id} of ${printable(source)}, sha256 ${bodySha256}, received ${receivedAt}`);
  const what = `${counted(events.length, "event")} and ${counted(held.length, "held delivery", "held deliveries")}`;
  say(isDryRun ? `${what} would be erased.` : `Erased ${what}.`);
  if (remains !== null) say(REMAINS[remains]);
  if (!isDryRun || isUnsearched) say(`Not covered: ${notCovered.join(", ")}.`);
}
