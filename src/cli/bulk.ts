import { setTimeout as delay } from "node:timers/promises";
import { auditedSelection } from "../audit/selection.ts";
import type { AuditAction } from "../audit/store.ts";
import { OperatorError } from "../errors.ts";
import { type Action, type TakenNamed, takeNamed } from "../events/actions.ts";
import { JOB_CURSOR } from "../events/cursors.ts";
import { EVENTS_PER_PAGE } from "../events/limits.ts";
import { eachPage, type TakePage } from "../events/pages.ts";
import type { CountedPage, EventName, EventStore, JobFilter, PageRequest } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import { findEvent, findName } from "./find-event.ts";
import { requireFiltered, requireFilteredThere } from "./find-source.ts";
import { makeChange } from "./make-change.ts";
import { eventConditions, type FilterOptions, perSecond } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { type RemoteOptions, remoteServer } from "./remote.ts";
import { type RemoteChange, remoteCount, remotePage, takeNamedThere } from "./remote-changes.ts";
import { remoteEvents } from "./remote-events.ts";
import { PAUSE_MS, withStores } from "./stores.ts";

/** The options of a command that takes many jobs. */
export interface BulkOptions extends FilterOptions, RemoteOptions {
  deadLetter?: boolean;
  route?: string;
  dryRun?: boolean;
  rate?: string;
  cursor?: string;
  json?: boolean;
}

const FILTERS = ["source", "type", "route", "since", "until", "error"] as const;

/**
 * The filter of a command without event ids. Throws {@link OperatorError} if there is none, or if there are ids beside
 * one.
 */
export function jobFilter(ids: readonly string[], options: BulkOptions, status: JobFilter["status"]): JobFilter | null {
  const given = FILTERS.filter((name) => options[name] !== undefined);
  if (ids.length > 0) {
    const others = ["deadLetter", "dryRun", "rate", "cursor", ...given.filter((name) => name !== "source")] as const;
    const other = others.find((name) => options[name]);
    if (other === undefined) return null;
    const found = `${optionOf(other)} cannot be used with event ids`;
    throw new OperatorError({ found, remedy: "give event ids, or a filter" });
  }
  if (given.length === 0 && !options.deadLetter) {
    const remedy = "give event ids, a filter such as --type, or --dead-letter for all failed events";
    throw new OperatorError({ found: "No events are given", remedy });
  }
  const { route } = options;
  return { status, ...eventConditions(options, Date.now()), ...(route === undefined ? {} : { route }) };
}

const optionOf = (name: string) => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** What a command does to the events that it takes. */
interface BulkCommand {
  /** Null: by id. */
  filter: JobFilter | null;
  action(events: EventStore, now: () => number): Action;
  /** Does the same on another machine. */
  change: RemoteChange;
  /** What the audit has of it on this machine. */
  audited: { action: AuditAction; detail?: object };
  /** Says more of why an event is not taken. */
  explained?(reason: string): string;
  /** The member of the JSON output that has the number of events. */
  member: string;
  /** Says how many events were taken. */
  done(events: string): string;
}

/** The events that a command takes, here or on another machine. */
interface Takeable {
  named(): Promise<TakenNamed<string>>;
  page(filter: JobFilter, page: PageRequest): Promise<CountedPage>;
  count(filter: JobFilter, page: PageRequest): Promise<CountedPage>;
}

/** Takes events by id or by a filter. The exit code is 1 if one of them cannot be taken. */
export async function runBulk(ids: readonly string[], options: BulkOptions, command: BulkCommand): Promise<void> {
  const { change } = command;
  const { source } = options;
  const server = remoteServer(options);
  if (server !== null) {
    await requireFilteredThere(server, options);
    const find = async (eventId: string) => renamed(eventId, await findName(remoteEvents(server), { eventId, source }));
    const takeable: Takeable = {
      named: () => (ids.length === 0 ? NONE : takeNamedThere(server, change, { ids, source }, find)),
      page: (filter, page) => remotePage(server, change, filter, page),
      count: (filter, page) => remoteCount(server, change, filter, page),
    };
    await take(takeable, options, command);
    return;
  }
  return withStores(async (stores) => {
    await requireFiltered(stores, options);
    const { events, now } = stores;
    const action = command.action(events, now);
    const find = async (eventId: string) =>
      renamed(eventId, await findEvent(events, { eventId, source })) ?? "there is no such event";
    const takeable: Takeable = {
      named: () => takeNamed(action, ids, find),
      page: action.page,
      count: events.count,
    };
    const { audited, filter } = command;
    const selection = auditedSelection(filter === null ? { ids, source } : { filter: { ...filter } });
    await makeChange(stores, {
      action: audited.action,
      asked: { ...selection, ...audited.detail },
      isDryRun: options.dryRun,
      make: () => take(takeable, options, command),
      outcome: (taken) => ({ events: taken }),
    });
  });
}

const NONE = Promise.resolve({ matched: 0, refused: [] });

/** Says which event has the id that begins so. */
function renamed<Found extends EventName>(eventId: string, event: Found | null): Found | null {
  if (event !== null && event.eventId !== eventId) say(`${printable(eventId)} is ${printable(event.eventId)}.`);
  return event;
}

/** Returns the number of events that were taken. */
async function take(
  { named, page: takePage, count }: Takeable,
  options: BulkOptions,
  { filter, explained = (reason) => reason, member, done }: BulkCommand,
): Promise<number> {
  const { json } = options;
  const filtered = filter
    ? await takePages(
        (page) => takePage(filter, page),
        (page) => count(filter, page),
        options,
      )
    : 0;
  if (filtered === null) return 0;
  const { matched, refused: all } = await named();
  const refused = all.map(({ eventId, reason }) => ({ eventId, reason: explained(reason) }));
  const taken = filtered + matched;
  if (json) printJson({ [member]: taken, refused });
  else {
    for (const { eventId, reason } of refused) say(`${printable(eventId)}: ${reason}`);
    say(done(counted(taken, "event")));
  }
  if (refused.length > 0) process.exitCode = 1;
  return taken;
}

/**
 * Takes all pages, and shows the progress on a terminal. Ctrl+C ends it after a page and prints how to continue. With
 * `--dry-run` it only counts, and returns null. Returns the number of events that were taken.
 */
async function takePages(take: TakePage, count: TakePage, options: BulkOptions): Promise<number | null> {
  const { cursor, rate, dryRun, json } = options;
  if (cursor !== undefined && !JOB_CURSOR.test(cursor))
    throw new OperatorError({
      found: "--cursor is not usable",
      remedy: "give the cursor that the ended command printed",
    });
  const limitPerSecond = rate === undefined ? null : perSecond("--rate", rate);
  if (dryRun) {
    const { taken: matched } = await eachPage(count, { cursor, limit: EVENTS_PER_PAGE }, async () => true);
    if (json) printJson({ matched });
    else say(`${counted(matched, "event")} ${matched === 1 ? "matches" : "match"}.`);
    return null;
  }

  const progress = createProgressBar((speed) => `${Math.round(speed)} events/s`);
  const total = process.stderr.isTTY
    ? (await eachPage(count, { cursor, limit: EVENTS_PER_PAGE }, async () => true)).taken
    : 0;
  const startedAt = performance.now();
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
  };
  process.once("SIGINT", interrupt);
  const limit =
    limitPerSecond === null
      ? EVENTS_PER_PAGE
      : Math.min(EVENTS_PER_PAGE, Math.ceil((limitPerSecond * PAUSE_MS) / 1000));
  const { taken, next } = await eachPage(take, { cursor, limit }, async (done) => {
    progress.update(done, total);
    const dueMs = limitPerSecond === null ? 0 : startedAt + (done * 1000) / limitPerSecond - performance.now();
    await delay(Math.max(PAUSE_MS, dueMs));
    return !isInterrupted;
  });
  process.off("SIGINT", interrupt);
  progress.end();
  if (next !== null) {
    say(`Ended after ${counted(taken, "event")}. Continue with --cursor ${next}`);
    process.exitCode = 1;
  }
  return taken;
}
