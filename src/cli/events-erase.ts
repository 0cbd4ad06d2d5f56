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
  sweep,
} from "../events/erase.ts";
import type { Remains } from "../events/erasure.ts";
import type { Status } from "../events/event.ts";
import type { EventStore } from "../events/store.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import { type ErasedHeld, eraseHeld } from "../webhook/held/erase.ts";
import { findEvent } from "./find-event.ts";
import { requireFiltered } from "./find-source.ts";
import { makeChange } from "./make-change.ts";
import { eventConditions, type FilterOptions } from "./option-values.ts";
import { counted, printData, printJson, say } from "./output.ts";
import { PAUSE_MS, withStores } from "./stores.ts";

interface Options extends FilterOptions {
  search?: string;
  status?: Status;
  reason: string;
  dryRun?: boolean;
  json?: boolean;
}

const FILTERS = ["search", "status", "type", "source", "since", "until", "error"] as const;

/** Erases the contents of events, by id or by a filter, and prints a receipt. The exit code is 1 if one is refused. */
export function runEventsErase(ids: string[], options: Options): Promise<void> {
  const { dryRun: isDryRun = false, json } = options;
  const reason = givenReason(options.reason);
  if (reason === null)
    throw new OperatorError({
      found: "--reason is not usable",
      remedy: `give a text of 1 to ${MAX_REASON} characters`,
    });
  const filter = filterOf(ids, options);
  return withStores(async (stores) => {
    const { events, held, now } = stores;
    await requireFiltered(stores, options);
    const how: EraseOptions = { reason, now, isDryRun };
    const find = async (eventId: string) =>
      (await findEvent(events, { eventId, source: options.source })) ?? ("there is no such event" as const);
    const make = async () => {
      const { erased, refused } =
        filter === null
          ? await eraseNamed(events, ids, find, how)
          : { erased: await erasePages(events, filter, how), refused: [] };
      return { erased, refused, removed: await eraseHeld(held, { events: erased, ...searchOf(filter) }, isDryRun) };
    };
    const selection = auditedSelection(filter === null ? { ids, source: options.source } : { filter });
    const { erased, refused, removed } = isDryRun
      ? await make()
      : await makeChange(stores, {
          action: "events.erase",
          asked: { ...selection, reason },
          make,
          outcome: (done) => ({ events: done.erased.length, held: done.removed.length }),
        });
    const remains = isDryRun ? null : await sweep(events);
    const receipt = receiptOf({ reason, isDryRun, erased, held: removed, remains }, now());
    if (json) printJson({ ...receipt, refused });
    else printReceipt(receipt, isDryRun);
    for (const { eventId, reason: why } of json ? [] : refused) say(`${printable(eventId)}: ${why}`);
    if (refused.length > 0) process.exitCode = 1;
  });
}

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

/** Erases page by page. Ctrl+C ends it after a page. */
async function erasePages(events: EventStore, filter: EraseFilter, how: EraseOptions): Promise<EraseReceipt[]> {
  const all: EraseReceipt[] = [];
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
  };
  process.once("SIGINT", interrupt);
  let cursor: string | undefined;
  do {
    const page = await erasePage(events, filter, { ...how, cursor });
    all.push(...page.erased);
    cursor = page.next ?? undefined;
    if (cursor !== undefined) await delay(PAUSE_MS);
  } while (cursor !== undefined && !isInterrupted);
  process.off("SIGINT", interrupt);
  if (cursor !== undefined) {
    say("Interrupted: this receipt is of what was done. Run it again to go on.");
    process.exitCode = 1;
  }
  return all;
}

interface Result {
  reason: string;
  isDryRun: boolean;
  erased: readonly EraseReceipt[];
  held: readonly ErasedHeld[];
  remains: Remains | null;
}

/** The receipt in JSON output. Its members and their order are stable. */
function receiptOf({ reason, isDryRun, erased, held, remains }: Result, now: number) {
  return {
    dryRun: isDryRun,
    reason,
    events: erased.map(({ source, eventId, payloadSha256, receivedAt, erasedAt, running }) => ({
      source,
      eventId,
      payloadSha256,
      receivedAt: isoTime(receivedAt),
      erasedAt: isoTime(erasedAt),
      running,
    })),
    held: held.map(({ receivedAt, ...delivery }) => ({ ...delivery, receivedAt: isoTime(receivedAt) })),
    remains,
    notCovered: [`backups made before ${isoTime(now)}`, "logs", "what targets and listeners received"],
  };
}

const REMAINS: Record<Remains, string> = {
  write_ahead_log:
    "The write-ahead log is in use and may still hold the bytes. A server empties it once nothing is written for a minute.",
  dead_rows: "PostgreSQL keeps the old rows in its files until VACUUM FULL of the tables, see the page on erasure.",
};

function printReceipt({ events, held, remains, notCovered }: ReturnType<typeof receiptOf>, isDryRun: boolean): void {
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
  if (!isDryRun) say(`Not covered: ${notCovered.join(", ")}.`);
}
