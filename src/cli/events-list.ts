import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { LIST_CURSOR } from "../events/cursors.ts";
import type { Status } from "../events/event.ts";
import { summaryJson } from "../events/json.ts";
import type { EventFilter, EventPage, EventStore, EventSummary } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { requireFiltered, requireFilteredThere } from "./find-source.ts";
import { eventConditions, type FilterOptions, wholeNumber } from "./option-values.ts";
import { jsonLine, printData, printJson, say } from "./output.ts";
import { type RemoteOptions, type RemoteServer, remoteServer } from "./remote.ts";
import { remoteEvents } from "./remote-events.ts";
import { withStores } from "./stores.ts";
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
const FOLLOW_PAGE = 1000;
// How long a search goes on. It can be continued.
const SEARCH_MS = 10_000;

/**
 * Prints stored events, newest first. With `--follow`, prints oldest first and goes on. Throws {@link OperatorError}
 * for a bad option.
 */
export function runEventsList(options: ListOptions): Promise<void> {
  const filter = toFilter(options, Date.now());
  const server = remoteServer(options);
  if (server !== null) return listRemote(server, filter, options);
  return withStores(async (stores) => {
    const { events, encryption } = stores;
    await requireFiltered(stores, options);
    await listFrom(events, filter, options);
    const missing = filter.search === undefined ? [] : await encryption.missingKeys();
    if (missing.length > 0) say(`Payloads that are encrypted with ${missing.join(", ")} were not searched.`);
  });
}

async function listRemote(server: RemoteServer, filter: EventFilter, options: ListOptions): Promise<void> {
  await requireFilteredThere(server, options);
  await listFrom(remoteEvents(server), filter, options);
}

async function listFrom(events: ListedEvents, filter: EventFilter, options: ListOptions): Promise<void> {
  const page = await listOrSearch(events, filter);
  if (!options.follow) return printPage(page, filter, options);
  for (const event of page.items.reverse()) printLine(event, options);
  return follow(events, { ...filter, after: page.newer }, options);
}

type ListedEvents = Pick<EventStore, "list">;

function printPage({ items, older }: EventPage, filter: EventFilter, options: ListOptions): void {
  const isUnfinished = older !== null && items.length < filter.limit;
  if (isUnfinished) say(`Not all events were searched. Continue with --cursor ${older}`);
  if (options.json) {
    printJson(items.map(summaryJson));
    return;
  }
  if (items.length > 0) printEvents(items, options);
  else if (!isUnfinished) say(isFiltered(filter) ? "No events match." : "There are no events yet.");
  if (older !== null && !isUnfinished) say(`More than ${filter.limit} events match. Continue with --cursor ${older}`);
}

/** Lists events. A search of payloads goes on for some time, in short steps. */
async function listOrSearch(events: ListedEvents, filter: EventFilter): Promise<EventPage> {
  const deadline = performance.now() + SEARCH_MS;
  const { items, older: first, newer } = await events.list(filter);
  let older = first;
  while (older !== null && items.length < filter.limit && performance.now() < deadline) {
    const page = await events.list({ ...filter, before: older, limit: filter.limit - items.length });
    items.push(...page.items);
    older = page.older;
  }
  return { items, older, newer };
}

interface EventColumn extends Column {
  value(event: EventSummary): string;
  /** Whether the column is useful for these events. */
  isNeeded?(items: readonly EventSummary[]): boolean;
}

function columnsFor(time: (ms: number) => string): EventColumn[] {
  return [
    { heading: "RECEIVED", value: ({ receivedAt }) => time(receivedAt) },
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

function printEvents(items: readonly EventSummary[], { utc }: ListOptions): void {
  const columns = columnsFor(timeFormat(utc, Date.now())).filter(({ isNeeded }) => isNeeded?.(items) ?? true);
  printTable(
    columns,
    items.map((event) => columns.map(({ value }) => value(event))),
  );
}

/** Prints new events as they arrive, until the process ends. */
async function follow(
  events: ListedEvents,
  filter: EventFilter & { after: string },
  options: ListOptions,
): Promise<void> {
  let { after } = filter;
  for (;;) {
    await delay(FOLLOW_INTERVAL_MS);
    const found = await newerThan(events, { ...filter, after, limit: FOLLOW_PAGE });
    for (const event of found.items.reverse()) printLine(event, options);
    after = found.newer;
  }
}

/** All events after a cursor, newest first. `limit` is the size of the pages that are read. */
async function newerThan(events: ListedEvents, filter: EventFilter): Promise<{ items: EventSummary[]; newer: string }> {
  const first = await events.list(filter);
  const items = [...first.items];
  for (let { older } = first; older !== null; ) {
    const page = await events.list({ ...filter, before: older });
    items.push(...page.items);
    older = page.older;
  }
  return { items, newer: first.newer };
}

/** Prints one event as a line. The columns are not aligned, because later events are not known yet. */
function printLine(event: EventSummary, { json }: ListOptions): void {
  const shown = summaryJson(event);
  if (json) {
    printData(jsonLine(shown));
    return;
  }
  const { receivedAt, status, source, type, eventId } = shown;
  printData([receivedAt, styled(STATUS_STYLE[status], status), source, printable(type), printable(eventId)].join("  "));
}

const isFiltered = ({ limit: _, ...conditions }: EventFilter) => Object.keys(conditions).length > 0;

const MAX_LIMIT = 999_999;

/** Reads the options of `events list`. Throws an {@link OperatorError} that names a bad option. */
function toFilter(options: ListOptions, now: number): EventFilter {
  const { status, route, until, search, cursor, limit } = options;
  if (cursor !== undefined && !LIST_CURSOR.test(cursor))
    throw new OperatorError({ found: "--cursor is not usable", remedy: "give a cursor that an earlier list printed" });
  if (options.follow && (until !== undefined || cursor !== undefined || search !== undefined))
    throw new OperatorError("--follow cannot be used with --until, --search or --cursor");
  if (search === "") throw new OperatorError({ found: "--search is empty", remedy: "give a part of a payload" });
  return {
    limit: wholeNumber("--limit", limit, MAX_LIMIT),
    ...(status === undefined ? {} : { status }),
    ...(route === undefined ? {} : { route }),
    ...eventConditions(options, now),
    ...(search === undefined ? {} : { search }),
    ...(cursor === undefined ? {} : { before: cursor }),
  };
}

const NEWEST = 100;
// Ids that a shell reads as one word, without special characters.
const PLAIN_ID = /^[A-Za-z0-9._:@+-]+$/;

/** Prints the ids of the newest events, one per line, for shell completion. */
export function runEventIds(): Promise<void> {
  return withStores(async ({ events }) => {
    const { items } = await events.list({ limit: NEWEST });
    for (const { eventId } of items) if (PLAIN_ID.test(eventId)) printData(eventId);
  });
}
