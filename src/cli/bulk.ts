import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { eachPage, type TakePage } from "../events/counted-pages.ts";
import { JOB_CURSOR } from "../events/cursors.ts";
import type { CountedPage, EventDetail, JobFilter, PageRequest } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import type { Stores } from "../stores.ts";
import { findEvent } from "./find-event.ts";
import { eventConditions, type FilterOptions, perSecond } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { PAUSE_MS, withStores } from "./stores.ts";

/** The options of a command that takes many jobs. */
export interface BulkOptions extends FilterOptions {
  deadLetter?: boolean;
  route?: string;
  dryRun?: boolean;
  rate?: string;
  cursor?: string;
  json?: boolean;
}

const FILTERS = ["source", "type", "route", "since", "until", "error"] as const;

// Deliveries wait for a page: 10 ms.
const PAGE = 500;

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

/** What a command does with events. */
interface Taking {
  /** The name of the number of events in JSON. */
  name: "replayed" | "discarded";
  /** Says how many events were taken. */
  sentence(events: string): string;
  takePage(stores: Stores, filter: JobFilter, page: PageRequest): Promise<CountedPage>;
  /** Returns the reason if the event cannot be taken, else null. */
  takeOne(stores: Stores, event: EventDetail): Promise<string | null>;
}

/** Takes events by id, or by a filter, and prints how many. The exit code is 1 if one of them cannot be taken. */
export function takeEvents(
  { ids, filter }: { ids: readonly string[]; filter: JobFilter | null },
  options: BulkOptions,
  { name, sentence, takePage, takeOne }: Taking,
): Promise<void> {
  return withStores(async (stores) => {
    const { events } = stores;
    const refused: { eventId: string; reason: string }[] = [];
    let taken = 0;
    if (filter) {
      const take = (page: PageRequest) => takePage(stores, filter, page);
      const all = await takePages(take, (page) => events.count(filter, page), options);
      if (all === null) return;
      taken = all;
    }
    for (const eventId of new Set(ids)) {
      const event = await findEvent(events, { eventId, source: options.source });
      const reason = event ? await takeOne(stores, event) : "there is no such event";
      if (reason === null) taken++;
      else refused.push({ eventId, reason });
    }
    if (options.json) printJson({ [name]: taken, refused });
    else {
      for (const { eventId, reason } of refused) say(`${printable(eventId)}: ${reason}`);
      say(sentence(counted(taken, "event")));
    }
    if (refused.length > 0) process.exitCode = 1;
  });
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
    const { taken: matched } = await eachPage(count, { cursor, limit: PAGE }, async () => true);
    if (json) printJson({ matched });
    else say(`${counted(matched, "event")} ${matched === 1 ? "matches" : "match"}.`);
    return null;
  }

  const progress = createProgressBar((speed) => `${Math.round(speed)} events/s`);
  const total = process.stderr.isTTY ? (await eachPage(count, { cursor, limit: PAGE }, async () => true)).taken : 0;
  const startedAt = performance.now();
  let isInterrupted = false;
  const interrupt = () => {
    isInterrupted = true;
  };
  process.once("SIGINT", interrupt);
  const limit = limitPerSecond === null ? PAGE : Math.min(PAGE, Math.ceil((limitPerSecond * PAUSE_MS) / 1000));
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
