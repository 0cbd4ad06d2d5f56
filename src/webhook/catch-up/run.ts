import { describeError } from "../../errors.ts";
import { CAPTURED_PREFIX } from "../../events/captured.ts";
import type { EventStore, NewEvent } from "../../events/store.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/durations.ts";
import { openContent } from "../content/content.ts";
import { type RedactSettings, requireRedacted } from "../content/redact.ts";
import type {
  ApiRequest,
  CapturedEvent,
  CatchUpAdapter,
  CatchUpSession,
  CatchUpSettings,
  ListedAttempt,
  SendToApi,
} from "../provider/catch-up.ts";
import { ApiError } from "./api.ts";
import { decide, grouped, MAX_TRIES, type MissingCandidate, REST_MS } from "./decide.ts";
import type { CatchUpItem, CatchUpState, CatchUpStore } from "./store.ts";

/** What a run has found and done, in numbers of events. */
export interface CatchUpResult {
  /** Events that the provider has. */
  listed: number;
  /** Those that are stored, or that the provider has delivered. */
  seen: number;
  /** Those that it was asked to deliver again. */
  redelivered: number;
  /** Those that were stored from its API. */
  captured: number;
  /** Those that do not come, or that it refused to deliver. */
  failed: number;
  /** Those that are left to a later run, or to the provider. */
  left: number;
  /** Why the last of `failed` was refused; null if none was. */
  refusal: string | null;
  /** Why the run was broken off; null if it was not. */
  error: string | null;
}

/** What a run works with. */
export interface CatchUpRun extends RedactSettings {
  source: string;
  settings: CatchUpSettings;
  adapter: CatchUpAdapter;
  /** For how long the provider repeats by itself, in milliseconds. */
  repeatsForMs: number;
  store: CatchUpStore;
  events: Pick<EventStore, "get" | "append">;
  send: SendToApi;
  now(): number;
  /** Looks back to this time instead (Unix milliseconds). */
  since?: number;
  /** Also gets what the provider has delivered and the store has not, as after a restore from a backup. */
  isAll?: boolean;
  /** Only counts. */
  isDryRun?: boolean;
  /** Whether the run goes on. Asked before each request. */
  goesOn?(): Promise<boolean>;
}

// Windows overlap, because a delivery may be listed after those that began later.
const OVERLAP_MS = 10 * MINUTE_MS;
// A provider that has ended its attempts has failed for days.
const LONG_MS = DAY_MS;
// So many events in a row at which the provider fails are an outage of its own.
const MAX_FAULTS = 3;
// Limits the memory: 100 attempts are on a page.
const MAX_PAGES = 2000;

class BrokenOff extends Error {}

/** Gets what a source has missed. Never throws because of the provider: the result says what has failed. */
export async function runCatchUp(run: CatchUpRun): Promise<CatchUpResult> {
  const { source, store, now } = run;
  const result: CatchUpResult = { ...NOTHING_DONE };
  const startedAt = now();
  const before = believed(await store.state(source), startedAt);
  const usual = windowStart(run, before, startedAt);
  const from = run.since ?? usual;
  let notBefore: number | null = null;
  let oldestOpen: number | null = null;
  try {
    refuseBefore(before?.notBefore ?? null, startedAt);
    oldestOpen = await catchUp(run, { from, to: startedAt }, result);
  } catch (error) {
    result.error = error instanceof BrokenOff ? "broken off" : problemText(error, run.adapter);
    if (error instanceof ApiError) notBefore = error.notBefore;
  }
  if (run.isDryRun) return result;
  const isWhole = result.error === null && from <= usual;
  const state = { ...NOTHING_COVERED, ...before, ...(isWhole && { coveredUntil: startedAt, oldestOpen }) };
  await store.saveState(source, { ...state, ranAt: now(), error: result.error, notBefore });
  await store.forget(source, startedAt - run.adapter.keepsMs - run.settings.windowMs);
  return result;
}

/** Why a run was broken off, and what to do. */
function problemText(error: unknown, { stops = [], token }: CatchUpAdapter): string {
  const text = describeError(error);
  if (!(error instanceof ApiError) || error.notBefore !== null) return text;
  const stop = stops.find(({ reason }) => reason.test(error.reason ?? ""));
  if (stop !== undefined) return `${text}: ${stop.remedy}`;
  if (error.status === 401 || error.status === 403) return `${text}: catchUp.token must be ${token}`;
  return error.status === 404 ? `${text}: catchUp.hook must be a webhook, and catchUp.token ${token}` : text;
}

const NOTHING_DONE: CatchUpResult = {
  ...{ listed: 0, seen: 0, redelivered: 0, captured: 0, failed: 0, left: 0 },
  ...{ refusal: null, error: null },
};

const NOTHING_COVERED = { coveredUntil: null, oldestOpen: null };

/** What is known of earlier runs. By a clock that was ahead they have covered what is still to come. */
function believed(state: CatchUpState | null, now: number): CatchUpState | null {
  return state !== null && state.ranAt > now ? { ...state, ...NOTHING_COVERED, notBefore: null } : state;
}

function refuseBefore(notBefore: number | null, now: number): void {
  if (notBefore === null || notBefore <= now) return;
  throw new ApiError(`the provider takes no request before ${new Date(notBefore).toISOString()}`, null, { notBefore });
}

/** Lists, and gets what is missing. Returns when the oldest event was due that has not come yet; null if all have. */
async function catchUp(
  run: CatchUpRun,
  { from, to }: { from: number; to: number },
  result: CatchUpResult,
): Promise<number | null> {
  const session = await run.adapter.open(run.settings, limited(run), run.now);
  const events = grouped(await list(run, session, from, to));
  result.listed = events.length;
  const known = new Map((await run.store.items(run.source)).map((item) => [item.item, item]));
  let oldestOpen: number | null = null;
  let faults = 0;
  for (const event of events) {
    const before = gotten(result);
    const isOpen = await settle(run, session, event, known.get(event.item), result).catch((error: unknown) => {
      faults++;
      if (!isServerFault(error) || faults >= MAX_FAULTS) throw error;
      result.failed++;
      result.refusal = describeError(error);
      return true;
    });
    if (gotten(result) > before) faults = 0;
    if (isOpen) oldestOpen = Math.min(oldestOpen ?? Number.POSITIVE_INFINITY, event.at ?? from);
  }
  if (session.deliverUntried && to - from >= LONG_MS && !run.isDryRun) await askFor(run, session.deliverUntried(from));
  return oldestOpen;
}

const gotten = ({ redelivered, captured }: CatchUpResult) => redelivered + captured;

/** Whether the provider fails at one event. It would else keep all later ones from being asked for. */
const isServerFault = (error: unknown) =>
  error instanceof ApiError && error.notBefore === null && (error.status ?? 0) >= 500;

/** Sends a request that not every server of the provider knows. */
async function askFor(run: CatchUpRun, request: ApiRequest): Promise<void> {
  try {
    await limited(run)(request);
  } catch (error) {
    if (!(error instanceof ApiError) || ![404, 405].includes(error.status ?? 0)) throw error;
  }
}

/** The beginning of what is looked at, so that nothing is left out since the last whole run that the provider has. */
function windowStart({ settings, adapter }: CatchUpRun, state: CatchUpState | null, now: number): number {
  const { coveredUntil = null, oldestOpen = null } = state ?? {};
  if (coveredUntil === null) return now - settings.windowMs;
  const since = Math.min(coveredUntil, oldestOpen ?? Number.POSITIVE_INFINITY) - OVERLAP_MS;
  return Math.max(since, now - adapter.keepsMs);
}

/** Sends while the run goes on. */
function limited({ send, goesOn }: CatchUpRun): SendToApi {
  return async (request) => {
    if (goesOn && !(await goesOn())) throw new BrokenOff();
    return send(request);
  };
}

/** All that the provider lists of a time. */
async function list(run: CatchUpRun, session: CatchUpSession, from: number, to: number): Promise<ListedAttempt[]> {
  const send = limited(run);
  const all: ListedAttempt[] = [];
  let request = session.firstPage(from, to, run.isAll);
  for (let page = 0; page < MAX_PAGES; page++) {
    const { listed, next } = session.readPage(await send(request));
    for (const attempt of listed) if (attempt.at === null || attempt.at >= from) all.push(attempt);
    const isOlder = listed.length > 0 && listed.every(({ at }) => at !== null && at < from);
    if (next === null || isOlder) return all;
    request = next;
  }
  throw new Error(`the provider lists more than ${MAX_PAGES} pages: shorten the window`);
}

/** Does what an event needs, and counts it. Returns whether it is open: a later run must look at it again. */
async function settle(
  run: CatchUpRun,
  session: CatchUpSession,
  event: MissingCandidate,
  known: CatchUpItem | undefined,
  result: CatchUpResult,
): Promise<boolean> {
  const { source, settings, store, repeatsForMs, now } = run;
  const isLostHere = run.isAll === true && event.eventId !== null;
  const mayBeMissing = !known?.isDone && (isLostHere || event.outcome !== "delivered");
  const isStored = mayBeMissing && (await isInStore(run, event));
  const canRedeliver = session.redeliver !== undefined;
  const { routes } = settings;
  const decision = decide(event, { known, isStored, canRedeliver, isLostHere, routes, repeatsForMs, now: now() });
  if (decision === "seen") {
    result.seen++;
    if (known && !known.isDone && !run.isDryRun) await store.finish(source, event.item, now());
    return false;
  }
  if (decision === "give_up") return giveUp(event, result);
  if (decision === "wait" || result.redelivered + result.captured >= settings.maxPerRun) {
    result.left++;
    return true;
  }
  if (run.isDryRun) {
    result[decision === "redeliver" ? "redelivered" : "captured"]++;
    return true;
  }
  if (!(await claim(run, event))) {
    result.left++;
    return true;
  }
  try {
    return await (decision === "redeliver" ? redeliver : capture)(run, session, event, result);
  } catch (error) {
    if (isRefused(error, run.adapter)) {
      result.failed++;
      result.refusal = describeError(error);
      return true;
    }
    await store.release(source, event.item);
    throw error;
  }
}

function giveUp(event: MissingCandidate, result: CatchUpResult): false {
  result.failed++;
  if (event.isGone) result.refusal = "the provider has not kept what it would deliver";
  return false;
}

/** Whether the provider refuses this event. Other errors, and limits, end the run. */
function isRefused(error: unknown, { stops = [] }: CatchUpAdapter): boolean {
  if (!(error instanceof ApiError) || error.notBefore !== null) return false;
  const holdsForAll = stops.some(({ reason }) => reason.test(error.reason ?? ""));
  return !holdsForAll && [400, 404, 409, 410, 422].includes(error.status ?? 0);
}

async function isInStore({ source, events }: CatchUpRun, { eventId }: ListedAttempt): Promise<boolean> {
  return eventId !== null && (await events.get(eventId, source)).length > 0;
}

function claim({ source, store, now }: CatchUpRun, { item, at }: MissingCandidate): Promise<boolean> {
  return store.claim(source, { item, at: at ?? now() }, { now: now(), most: MAX_TRIES, restMs: REST_MS });
}

async function redeliver(
  run: CatchUpRun,
  { redeliver: requestOf }: CatchUpSession,
  event: ListedAttempt,
  result: CatchUpResult,
): Promise<boolean> {
  if (requestOf) await limited(run)(requestOf(event));
  result.redelivered++;
  return true;
}

async function capture(
  run: CatchUpRun,
  { capture: captureOf }: CatchUpSession,
  event: ListedAttempt,
  result: CatchUpResult,
): Promise<boolean> {
  if (captureOf) await append(run, captureOf.read(await limited(run)(captureOf.request(event))));
  await run.store.finish(run.source, event.item, run.now());
  result.captured++;
  return false;
}

async function append(run: CatchUpRun, captured: CapturedEvent): Promise<void> {
  const { source, settings, events, now } = run;
  const { host } = new URL(settings.origin);
  const content = openContent(Buffer.from(captured.payload), captured.contentType);
  const event: NewEvent = {
    source,
    ...captured,
    payload: requireRedacted(run, content, captured.contentType).bytes,
    bytesSha256: null,
    sameWithinMs: null,
    secret: `${CAPTURED_PREFIX}${host}`,
    address: host,
    headers: JSON.stringify({ "authserve-origin": "api" }),
    receivedAt: now(),
  };
  const [appended] = await events.append([event]);
  if (appended?.error) throw appended.error;
}
