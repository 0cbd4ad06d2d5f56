import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { LIST_CURSOR } from "../events/cursors.ts";
import type { Status } from "../events/event.ts";
import { isSearched } from "../events/search-window.ts";
import { printable } from "../lib/printable.ts";
import { listed } from "../operations/events.ts";
import type { InputOf, OutputOf } from "../operations/operation.ts";
import { requireKnown } from "./find-source.ts";
import { operate, type Perform, withPerformer } from "./operate.ts";
import { eventConditions, type FilterOptions, wholeNumber } from "./option-values.ts";
import { jsonLine, printData, printJson, say } from "./output.ts";
import { HERE, type RemoteOptions } from "./remote.ts";
import { type Column, printTable, STATUS_STYLE, styled } from "./table.ts";
import { timeFormat } from "./time.ts";

interface ListOptions extends FilterOptions, RemoteOptions {
  route?: string;
  status?: Status;
  search?: string;
  cursor?: string;
  limit: string;
  follow?: boolean;
  utc?: boolean;
  json?: boolean;
}

const FOLLOW_INTERVAL_MS = 500;
// The most that a request may list.
const PAGE = 500;
// How long a search goes on. It can be continued.
const SEARCH_MS = 10_000;

/**
 * Prints stored events, newest first. With `--follow`, prints oldest first and goes on. Throws {@link OperatorError}
 * for a bad option.
 */
export function runEventsList(options: ListOptions): Promise<void> {
  const filter = toFilter(options, Date.now());
  const most = wholeNumber("--limit", options.limit, MAX_LIMIT);
  return withPerformer(options, async (performer) => {
    const { perform, stores } = performer;
    await requireKnown(performer, options);
    const found = await listOrSearch(perform, filter, most);
    if (!options.follow) printFound(found, most, isFiltered(filter), options);
    else {
      for (const event of found.items.reverse()) printLine(event, options);
      await follow(perform, { ...filter, after: found.newer }, options);
    }
    if (stores === null || filter.search === undefined) return;
    const missing = await stores.encryption.missingKeys();
    if (missing.length > 0) say(`Payloads that are encrypted with ${missing.join(", ")} were not searched.`);
  });
}

type Filter = InputOf<typeof listed>;
type EventsPage = OutputOf<typeof listed>;
type EventItem = EventsPage["items"][number];

function printFound({ items, cursor }: EventsPage, most: number, isFiltered: boolean, options: ListOptions): void {
  const isUnfinished = cursor !== null && items.length < most;
  if (isUnfinished) say(`Not all events were searched. Continue with --cursor ${cursor}`);
  if (options.json) {
    printJson(items.map(printed));
    return;
  }
  if (items.length > 0) printEvents(items, options);
  else if (!isUnfinished) say(isFiltered ? "No events match." : "There are no events yet.");
  if (cursor !== null && !isUnfinished) say(`More than ${most} events match. Continue with --cursor ${cursor}`);
}

/** An event in JSON output, which has no routes. */
const printed = ({ routes: _, ...event }: EventItem) => event;

/** Lists events, page by page. A search goes on for some time. */
async function listOrSearch(perform: Perform, filter: Filter, most: number): Promise<EventsPage> {
  // Who follows misses nothing.
  const isLimited = isSearched(filter) && most !== Number.POSITIVE_INFINITY;
  const deadline = performance.now() + SEARCH_MS;
  const first = await perform(listed, { ...filter, limit: String(Math.min(PAGE, most)) });
  const { items } = first;
  let { cursor } = first;
  while (cursor !== null && items.length < most && (!isLimited || performance.now() < deadline)) {
    const limit = String(Math.min(PAGE, most - items.length));
    const page = await perform(listed, { ...filter, cursor, limit });
    items.push(...page.items);
    cursor = page.cursor;
  }
  return { items, cursor, newer: first.newer };
}

interface EventColumn extends Column {
  value(event: EventItem): string;
  /** Whether the column is useful for these events. */
  isNeeded?(items: readonly EventItem[]): boolean;
}

function columnsFor(time: (ms: number) => string): EventColumn[] {
  return [
    { heading: "RECEIVED", value: ({ receivedAt }) => time(Date.parse(receivedAt)) },
    { heading: "STATUS", value: ({ status }) => status, style: (status) => STATUS_STYLE[status as Status] },
    { heading: "ATTEMPTS", givesWay: 3, value: ({ attempts }) => String(attempts) },
    {
      heading: "SOURCE",
      leastWidth: 8,
      value: ({ source }) => source,
      isNeeded: (items) => new Set(items.map(({ source }) => source)).size > 1,
    },
    {
      heading: "ROUTE",
      leastWidth: 6,
      value: ({ routes }) => routes.join(", "),
      isNeeded: (items) => new Set(items.flatMap(({ routes }) => routes)).size > 1,
    },
    { heading: "TYPE", leastWidth: 6, givesWay: 2, value: ({ type }) => type },
    // Never cut: it is copied to other commands.
    { heading: "EVENT ID", value: ({ eventId }) => eventId },
    {
      heading: "LAST ERROR",
      leastWidth: 8,
      givesWay: 1,
      value: ({ lastError }) => lastError ?? "",
      isNeeded: (items) => items.some(({ lastError }) => lastError !== null),
    },
  ];
}

function printEvents(items: readonly EventItem[], { utc }: ListOptions): void {
  const columns = columnsFor(timeFormat(utc, Date.now())).filter(({ isNeeded }) => isNeeded?.(items) ?? true);
  printTable(
    columns,
    items.map((event) => columns.map(({ value }) => value(event))),
  );
}

/** Prints new events as they arrive, until the process ends. */
async function follow(perform: Perform, filter: Filter & { after: string }, options: ListOptions): Promise<void> {
  let { after } = filter;
  for (;;) {
    await delay(FOLLOW_INTERVAL_MS);
    const found = await listOrSearch(perform, { ...filter, after }, Number.POSITIVE_INFINITY);
    for (const event of found.items.reverse()) printLine(event, options);
    after = found.newer;
  }
}

/** Prints one event as a line. The columns are not aligned, because later events are not known yet. */
function printLine(event: EventItem, { json }: ListOptions): void {
  if (json) {
    printData(jsonLine(printed(event)));
    return;
  }
  const { receivedAt, status, source, type, eventId } = event;
  printData([receivedAt, styled(STATUS_STYLE[status], status), source, printable(type), printable(eventId)].join("  "));
}

const isFiltered = (filter: Filter) => Object.keys(filter).length > 0;

const MAX_LIMIT = 999_999;

/** Reads the options of `events list`. Throws an {@link OperatorError} that names a bad option. */
function toFilter(options: ListOptions, now: number): Filter {
  const { status, route, until, search, cursor } = options;
  if (cursor !== undefined && !LIST_CURSOR.test(cursor))
    throw new OperatorError({ found: "--cursor is not usable", remedy: "give a cursor that an earlier list printed" });
  if (options.follow && (until !== undefined || cursor !== undefined || search !== undefined))
    throw new OperatorError("--follow cannot be used with --until, --search or --cursor");
  if (search === "") throw new OperatorError({ found: "--search is empty", remedy: "give a text that they have" });
  return {
    ...(status === undefined ? {} : { status }),
    ...(route === undefined ? {} : { route }),
    ...eventConditions(options, now),
    ...(search === undefined ? {} : { search }),
    ...(cursor === undefined ? {} : { cursor }),
  };
}

const NEWEST = "100";
// Ids that a shell reads as one word, without special characters.
const PLAIN_ID = /^[A-Za-z0-9._:@+-]+$/;

/** Prints the ids of the newest events, one per line, for shell completion. */
export async function runEventIds(): Promise<void> {
  const { items } = await operate(listed, { limit: NEWEST }, HERE);
  for (const { eventId } of items) if (PLAIN_ID.test(eventId)) printData(eventId);
}
