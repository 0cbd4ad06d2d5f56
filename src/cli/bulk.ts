import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { eachPage, type TakePage } from "../events/counted-pages.ts";
import { JOB_CURSOR } from "../events/cursors.ts";
import type { JobFilter } from "../events/store.ts";
import { eventConditions, type FilterOptions } from "./event-filter.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { perSecond } from "./whole-number.ts";

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
// A server that waits for the lock of the database tries again within 100 ms (SQLite's busy handler).
const PAUSE_MS = 100;

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

/**
 * Takes all pages, and shows the progress on a terminal. Ctrl+C ends it after a page and prints how to continue. With
 * `--dry-run` it only counts, and returns null. Returns the number of events that were taken.
 */
export async function takePages(take: TakePage, count: TakePage, options: BulkOptions): Promise<number | null> {
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
