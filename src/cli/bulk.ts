import { setTimeout as delay } from "node:timers/promises";
import { OperatorError } from "../errors.ts";
import { JOB_CURSOR } from "../events/cursors.ts";
import { EVENTS_PER_PAGE } from "../events/limits.ts";
import { eachPage, type TakePage } from "../events/pages.ts";
import type { EventName } from "../events/store.ts";
import { printable } from "../lib/printable.ts";
import type { discard } from "../operations/discard.ts";
import type { InputOf, OutputOf } from "../operations/operation.ts";
import type { replay } from "../operations/replay.ts";
import { isUnknown } from "../operations/selection.ts";
import { findEvent } from "./find-event.ts";
import { requireKnown } from "./find-source.ts";
import { interruption } from "./interruption.ts";
import { askedOf, type Perform, withPerformer } from "./operate.ts";
import { eventConditions, type FilterOptions, perSecond } from "./option-values.ts";
import { counted, printJson, say } from "./output.ts";
import { createProgressBar } from "./progress.ts";
import { OperationProblem, type RemoteOptions } from "./remote.ts";
import { PAUSE_MS } from "./stores.ts";

/** The options of a command that takes many jobs. */
export interface BulkOptions extends FilterOptions, RemoteOptions {
  deadLetter?: boolean;
  route?: string;
  dryRun?: boolean;
  rate?: string;
  cursor?: string;
  json?: boolean;
}

/** Selects jobs, as operations take it. */
type JobFilter = NonNullable<InputOf<typeof discard>["filter"]>;

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
  operation: typeof replay | typeof discard;
  /** What it is asked besides the selection. */
  input: Omit<InputOf<typeof replay>, keyof Selection> | Omit<InputOf<typeof discard>, keyof Selection>;
  /** Null: by id. */
  filter: JobFilter | null;
  /** Says more of why an event is not taken. */
  explained?(reason: string): string;
  /** The member of the JSON output that has the number of events. */
  member: string;
  /** Says how many events were taken. */
  done(events: string): string;
}

// The API takes up to 1000.
const IDS_PER_REQUEST = 500;

/** Takes events by id or by a filter. The exit code is 1 if one of them cannot be taken. */
export function runBulk(ids: readonly string[], options: BulkOptions, command: BulkCommand): Promise<void> {
  const { operation, input, filter } = command;
  const { source, dryRun } = options;
  return withPerformer(options, async (performer) => {
    await requireKnown(performer, options);
    // The audit has some of the ids.
    const selection = filter === null ? { ids: ids.slice(0, IDS_PER_REQUEST), source } : { filter };
    const asked = askedOf(operation, { ...input, ...selection, dryRun });
    const taken = await performer.asOneChange(operation, asked, async (perform) => {
      const ask = (part: Selection) => perform(operation, { ...input, ...part });
      if (filter !== null) return { matched: await takePages(filter, ask, options), ...NONE };
      let matched = 0;
      const named = { ids, source, most: IDS_PER_REQUEST };
      const { refused } = await eachNamed(perform, named, async (part) => {
        const found = await ask(part);
        matched += found.matched;
        return found.refused;
      });
      return { ...NONE, matched, refused };
    });
    if (!dryRun) print(taken, options, command);
  });
}

/** The members that both operations have. */
type Selection = Omit<InputOf<typeof discard>, "reason">;
type Taken = OutputOf<typeof discard>;
type Ask = (part: Selection) => Promise<Taken>;

const NONE = { refused: [], cursor: null };

function print({ matched, refused: all }: Taken, { json }: BulkOptions, command: BulkCommand): void {
  const { explained = (reason) => reason, member, done } = command;
  const refused = all.map(({ eventId, reason }) => ({ eventId, reason: explained(reason) }));
  if (json) printJson({ [member]: matched, refused });
  else {
    for (const { eventId, reason } of refused) say(`${printable(eventId)}: ${reason}`);
    say(done(counted(matched, "event")));
  }
  if (refused.length > 0) process.exitCode = 1;
}

interface Refused {
  eventId: string;
  reason: string;
}

/**
 * Takes events by id: many in one request, then those whose beginning was given. `take` returns those that it refuses.
 * `isStopped` ends it between two requests; `isDone` tells whether all were taken.
 */
export async function eachNamed(
  perform: Perform,
  { ids, source, most }: { ids: readonly string[]; source: string | undefined; most: number },
  take: (selection: { ids: string[]; source: string | undefined }) => Promise<Refused[]>,
  isStopped = () => false,
): Promise<{ refused: Refused[]; isDone: boolean }> {
  const wanted = [...new Set(ids)];
  const reasons = new Map<string, string>();
  for (let from = 0; from < wanted.length; from += most) {
    if (isStopped()) return { refused: refusedOf(wanted, reasons), isDone: false };
    const refused = await take({ ids: wanted.slice(from, from + most), source });
    for (const { eventId, reason } of refused) reasons.set(eventId, reason);
  }
  for (const eventId of wanted.filter((id) => isUnknown(reasons.get(id)))) {
    const event = await lookUp(perform, eventId, source);
    if (event === null) continue;
    if (typeof event === "string") {
      reasons.set(eventId, event);
      continue;
    }
    if (event.eventId !== eventId) say(`${printable(eventId)} is ${printable(event.eventId)}.`);
    const [refused] = await take({ ids: [event.eventId], source: event.source });
    if (refused) reasons.set(eventId, refused.reason);
    else reasons.delete(eventId);
  }
  return { refused: refusedOf(wanted, reasons), isDone: true };
}

function refusedOf(ids: readonly string[], reasons: ReadonlyMap<string, string>): Refused[] {
  return ids.flatMap((eventId) => {
    const reason = reasons.get(eventId);
    return reason === undefined ? [] : [{ eventId, reason }];
  });
}

/** The event whose id begins so, or why it cannot be told. Null also with a token that may not read. */
async function lookUp(
  perform: Perform,
  eventId: string,
  source: string | undefined,
): Promise<EventName | string | null> {
  try {
    return await findEvent(perform, { eventId, source });
  } catch (error) {
    if (error instanceof OperationProblem && error.code === "insufficient_scope") return null;
    // Others have been taken by now, and what was done is still told.
    if (error instanceof OperatorError && !(error instanceof OperationProblem)) return error.message;
    throw error;
  }
}

/**
 * Takes all pages, and shows the progress on a terminal. Ctrl+C ends it after a page and prints how to continue. With
 * `--dry-run` it only counts. Returns the number of events.
 */
async function takePages(filter: JobFilter, ask: Ask, options: BulkOptions): Promise<number> {
  const { cursor, rate, dryRun, json } = options;
  if (cursor !== undefined && !JOB_CURSOR.test(cursor))
    throw new OperatorError({
      found: "--cursor is not usable",
      remedy: "give the cursor that the ended command printed",
    });
  const pageOf = async (page: Omit<Selection, "filter">) => {
    const { matched: count, cursor: next } = await ask({ filter, ...page });
    return { count, next };
  };
  const limitPerSecond = rate === undefined ? null : perSecond("--rate", rate);
  const countAll = async () => {
    const count: TakePage = (page) => pageOf({ ...page, dryRun: true });
    return (await eachPage(count, { cursor, limit: EVENTS_PER_PAGE }, async () => true)).taken;
  };
  if (dryRun) {
    const matched = await countAll();
    if (json) printJson({ matched });
    else say(`${counted(matched, "event")} ${matched === 1 ? "matches" : "match"}.`);
    return matched;
  }
  const total = process.stderr.isTTY ? await countAll() : 0;
  const { taken, next } = await takeAtRate(pageOf, { cursor, limitPerSecond, total });
  if (next !== null) {
    say(`Ended after ${counted(taken, "event")}. Continue with --cursor ${next}`);
    process.exitCode = 1;
  }
  return taken;
}

interface Rate {
  cursor: string | undefined;
  /** Null: as fast as the pauses for a server allow. */
  limitPerSecond: number | null;
  /** The number of events, for the progress. */
  total: number;
}

/** Takes pages with pauses until the last one, or until Ctrl+C. */
async function takeAtRate(take: TakePage, { cursor, limitPerSecond, total }: Rate): ReturnType<typeof eachPage> {
  const progress = createProgressBar((speed) => `${Math.round(speed)} events/s`);
  const stop = interruption();
  const startedAt = performance.now();
  const ofPause = limitPerSecond === null ? EVENTS_PER_PAGE : Math.ceil((limitPerSecond * PAUSE_MS) / 1000);
  const page = { cursor, limit: Math.min(EVENTS_PER_PAGE, ofPause) };
  stop.begin();
  const found = await eachPage(take, page, async (done) => {
    progress.update(done, total);
    const dueMs = limitPerSecond === null ? 0 : startedAt + (done * 1000) / limitPerSecond - performance.now();
    await delay(Math.max(PAUSE_MS, dueMs));
    return !stop.isAsked();
  });
  stop.end();
  progress.end();
  return found;
}
