import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import type { Remains } from "../events/erasure.ts";
import type { Status } from "../events/event.ts";
import { isoTime } from "../lib/iso-time.ts";
import { printable } from "../lib/printable.ts";
import { spellingsOf } from "../lib/spellings.ts";
import { erase } from "../operations/erase.ts";
import type { InputOf, OperationContext, OutputOf } from "../operations/operation.ts";
import { eachNamed } from "./bulk.ts";
import { requireReason } from "./events-discard.ts";
import { requireKnown } from "./find-source.ts";
import { interruption } from "./interruption.ts";
import { askedOf, type Performer, withPerformer } from "./operate.ts";
import { eventConditions, type FilterOptions } from "./option-values.ts";
import { counted, printData, printJson, say } from "./output.ts";
import type { RemoteOptions } from "./remote.ts";
import { sayReplaced } from "./replaced-files.ts";
import { PAUSE_MS } from "./stores.ts";

type EraseFilter = NonNullable<InputOf<typeof erase>["filter"]>;
type Erased = Omit<OutputOf<typeof erase>, "matched" | "cursor">;

interface Options extends FilterOptions, RemoteOptions {
  search?: string;
  status?: Status;
  reason: string;
  dryRun?: boolean;
  json?: boolean;
}

const FILTERS = ["search", "status", "type", "source", "since", "until", "error"] as const;

/** Ids of one request: each is erased by itself, and a request ends in time. */
const IDS_PER_REQUEST = 100;

/** Erases the contents of events, by id or by a filter, and prints a receipt. The exit code is 1 if one is refused. */
export function runEventsErase(ids: string[], options: Options): Promise<void> {
  const { dryRun = false, source, json } = options;
  const reason = requireReason(options.reason);
  const filter = filterOf(ids, options);
  const stop = interruption();
  const pace: OperationContext["pace"] = () => async () => {
    await delay(PAUSE_MS);
    return !stop.isAsked();
  };
  const erasing = async (performer: Performer) => {
    await requireKnown(performer, options);
    // The audit has some of the ids.
    const selection = filter === null ? { ids: ids.slice(0, IDS_PER_REQUEST), source } : { filter };
    const asked = askedOf(erase, { ...selection, reason, dryRun });
    let isDone = true;
    stop.begin();
    const erased = await performer.asOneChange(erase, asked, async (perform) => {
      const all: Erased = { events: [], held: [], refused: [], remains: null, missingKeys: [] };
      const ask = async (part: object) => {
        const { events, held, refused, remains, missingKeys, cursor } = await perform(erase, {
          ...part,
          reason,
          dryRun,
        });
        // One call may return more events than a function takes arguments.
        for (const event of events) all.events.push(event);
        all.held.push(...held);
        Object.assign(all, { remains, missingKeys });
        return { refused, cursor };
      };
      if (filter === null) {
        const named = { ids, source, most: IDS_PER_REQUEST };
        const found = await eachNamed(perform, named, async (part) => (await ask(part)).refused, stop.isAsked);
        all.refused = found.refused;
        isDone = found.isDone;
      } else isDone = await eraseFiltered(filter, ask, stop.isAsked);
      return { matched: all.events.length, ...all, cursor: null };
    });
    stop.end();
    if (!isDone) {
      say("Interrupted: this receipt is of what was done. Run it again to go on.");
      process.exitCode = 1;
    }
    print({ reason, isDryRun: dryRun, ...erased, now: performer.now() }, json);
    if (performer.stores !== null) sayReplaced(performer.stores.settings);
  };
  return withPerformer(options, erasing, { pace });
}

/** Erases what matches, request by request. Returns false if it was stopped before the end. */
async function eraseFiltered(
  filter: EraseFilter,
  ask: (asked: object) => Promise<{ cursor: string | null }>,
  isStopAsked: () => boolean,
): Promise<boolean> {
  for (const spelled of spelledFilters(filter)) {
    let cursor: string | undefined;
    do {
      cursor = (await ask({ filter: spelled, cursor })).cursor ?? undefined;
    } while (cursor !== undefined && !isStopAsked());
    if (cursor !== undefined) return false;
  }
  return true;
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
    throw new OperatorError({ found: "--search is empty", remedy: "give a text that they have" });
  const { search, status } = options;
  return {
    ...eventConditions(options, Date.now()),
    ...(search === undefined ? {} : { search }),
    ...(status === undefined ? {} : { status }),
  };
}

/** A filter for each way in which payloads spell a searched text. */
const spelledFilters = (filter: EraseFilter): EraseFilter[] =>
  filter.search === undefined ? [filter] : spellingsOf(filter.search).map((search) => ({ ...filter, search }));

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
