import type { JobStatus, Status } from "../events/event.ts";
import { MAX_COMPARED_EVENTS } from "../events/limits.ts";
import {
  addTaken,
  createPurgeRule,
  endOf,
  NOTHING_TAKEN,
  type PurgeRule,
  type StoredTotals,
  type Taken,
} from "../events/retention.ts";
import type { EventStore, PurgedPage, PurgeRequest } from "../events/store.ts";
import { createTimeline, type PlausibleTime } from "../events/timeline.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { type EventTally, eventTally, type Moves } from "./event-tally.ts";
import { PROMOTE } from "./events-sql.ts";
import { type PurgeRoom, purgeRoom } from "./purge-room.ts";
import { isSpaceLow } from "./reserve.ts";
import * as sql from "./retention-sql.ts";
import { statRemoval } from "./stats.ts";

// A large file with fewer free pages keeps them for new events.
const SPARE_PAGES = 1000;
const SPARE_SHARE = 0.1;
// 2 ms. Each moves a page from the end of the file.
const RECLAIMED_PAGES = 100;

/** Where a purge goes on. `taken` is what a dry run has counted so far. */
interface Position {
  phase: "contents" | "ids" | "space";
  after: number;
  taken: Taken;
}

interface TotalsRow {
  processed: number;
  processedBytes: number;
  failed: number;
  failedBytes: number;
  routedTo: number;
  databaseBytes: number;
}

interface CandidateRow {
  event: number;
  receivedAt: number;
  bytes: number;
}

interface JobRow {
  route: string;
  status: JobStatus;
  endedAt: number | null;
  orderingKey: string | null;
}

/** An event to remove. */
interface Expired extends CandidateRow {
  status: Exclude<Status, "queued">;
  jobs: readonly JobRow[];
}

/** Removes what retention does not keep, in small transactions. */
export function eventRetention(database: Database): SyncPort<Pick<EventStore, "purge">> {
  const room = purgeRoom(database);
  const purgeContents = contentsPurge(database, room);
  const purgeIds = idsPurge(database, room);
  const reclaim = spaceReclaim(database, room);
  const removeOldStats = statRemoval(database);

  const purge = (request: PurgeRequest): PurgedPage => {
    const startedAt = performance.now();
    const { hasWorked, ...page } = work(request);
    return { ...page, fruitlessMs: hasWorked ? 0 : performance.now() - startedAt };
  };

  const work = (request: PurgeRequest): PageWork => {
    if (request.cursor === undefined && !request.isDryRun) removeOldStats(request.now);
    const position = request.cursor === undefined ? START : (JSON.parse(request.cursor) as Position);
    switch (position.phase) {
      case "contents":
        return purgeContents(request, position);
      case "ids":
        return purgeIds(request, position);
      case "space": {
        const hasWorked = reclaim();
        return { ...NOTHING, hasWorked, next: hasWorked ? JSON.stringify(position) : null };
      }
    }
  };
  return { purge: atomic(database, purge) };
}

/** A page, and whether something was removed or returned to the disk. */
type PageWork = Omit<PurgedPage, "fruitlessMs"> & { hasWorked: boolean };

const START: Position = { phase: "contents", after: 0, taken: NOTHING_TAKEN };

const NOTHING = { events: 0, ids: 0, bytes: 0 };

/** Returns an event with its jobs if a rule takes it, else null. */
function expiry(database: Database): (row: CandidateRow, rule: PurgeRule) => Expired | null {
  const jobsOf = database.prepare<unknown[], JobRow>(sql.ENDED_JOBS);
  return (row, rule) => {
    const jobs = jobsOf.all(row.event);
    const { status, endedAt } = endOf(row.receivedAt, jobs);
    return rule.takes({ status, endedAt, bytes: row.bytes }) && status !== "queued" ? { ...row, status, jobs } : null;
  };
}

/** Returns what tells the times of a page of events. */
function timelineOf(
  database: Database,
): (rows: readonly CandidateRow[], now: number) => (row: CandidateRow) => PlausibleTime {
  const later = database.prepare<[number], number | null>(sql.LATER).pluck();
  const earlier = database.prepare<[number, number], number | null>(sql.EARLIER).pluck();
  return ([first], now) => {
    const event = first?.event ?? 0;
    const after = later.get(event) as number | null;
    const before = earlier.get(event, Math.min(now, after ?? now)) as number | null;
    const timeOf = createTimeline({ earlier: before, later: after }, now);
    return ({ receivedAt }) => timeOf(receivedAt);
  };
}

/** Finds and removes the next events. */
function contentsPurge(database: Database, room: PurgeRoom) {
  const totals = database.prepare<unknown[], TotalsRow>(sql.TOTALS);
  const candidates = database.prepare<unknown[], CandidateRow>(sql.CANDIDATES);
  const timeline = timelineOf(database);
  const expired = expiry(database);
  const remove = contentsRemoval(database);

  return ({ retention, now, limit: most, isDryRun = false }: PurgeRequest, { after, taken }: Position): PageWork => {
    const limit = isDryRun ? most : room.fitting(most);
    const found = totals.get() as TotalsRow;
    const rule = createPurgeRule(retention, withoutTaken(found, taken), now);
    const events: Expired[] = [];
    let last = after;
    let isDone = false;
    const rows = candidates.all(after, found.routedTo, MAX_COMPARED_EVENTS);
    const timeOf = timeline(rows, now);
    for (const row of rows) {
      const { at: receivedAt, isAhead } = timeOf(row);
      const isYoung = rule.isDoneAt(receivedAt);
      isDone = isYoung && !isAhead;
      if (isDone || events.length === limit) break;
      last = row.event;
      const event = isYoung ? null : expired({ ...row, receivedAt }, rule);
      if (event) events.push(event);
    }
    if (!isDryRun && events.length > 0) {
      room.make();
      remove(events, now);
    }
    const hasMore = !isDone && (events.length === limit || rows.length === MAX_COMPARED_EVENTS);
    const next: Position = hasMore
      ? { phase: "contents", after: last, taken: isDryRun ? addTaken(taken, events) : taken }
      : { ...START, phase: "ids" };
    const bytes = events.reduce((sum, event) => sum + event.bytes, 0);
    return { events: events.length, ids: 0, bytes, hasWorked: events.length > 0, next: JSON.stringify(next) };
  };
}

function withoutTaken(found: TotalsRow, { processed, failed }: Taken): StoredTotals {
  return {
    processed: { count: found.processed - processed.count, bytes: found.processedBytes - processed.bytes },
    failed: { count: found.failed - failed.count, bytes: found.failedBytes - failed.bytes },
    databaseBytes: found.databaseBytes - processed.bytes - failed.bytes,
  };
}

/** Removes events with their jobs, and keeps the counts right. */
function contentsRemoval(database: Database): (events: readonly Expired[], now: number) => void {
  const removeFromIndexes = sql.REMOVE_FROM_INDEXES.map((text) => database.prepare(text));
  const removals = sql.REMOVE_CONTENTS.map((text) => database.prepare(text));
  const promote = database.prepare(PROMOTE);
  const removeMinutes = database.prepare(sql.REMOVE_MINUTES);
  const countRemoved = database.prepare(sql.TALLY_REMOVED);
  const tally: EventTally = eventTally(database);

  function removeOne({ event, jobs }: Expired, now: number, moves: Moves): void {
    for (const statement of removeFromIndexes) statement.run({ event });
    for (const statement of removals) statement.run(event);
    for (const { route, status, orderingKey } of jobs) {
      moves.removed(route, status);
      // A dead letter may have kept the later jobs of its ordering key waiting.
      if (status === "failed" && orderingKey !== null) promote.run({ route, orderingKey, now });
    }
  }

  return (events, now) => {
    tally.count((moves) => {
      for (const event of events) removeOne(event, now, moves);
    });
    const { processed, failed } = addTaken(NOTHING_TAKEN, events);
    const unrouted = events.filter(({ jobs }) => jobs.length === 0).length;
    countRemoved.run(processed.count, processed.bytes, failed.count, failed.bytes, unrouted);
    removeMinutes.run();
  };
}

interface IdRow extends CandidateRow {
  hasContents: number;
}

const NO_TOTALS: StoredTotals = { ...NOTHING_TAKEN, databaseBytes: 0 };

/** Finds and removes the next ids whose events are removed. */
function idsPurge(database: Database, room: PurgeRoom) {
  const oldIds = database.prepare<unknown[], IdRow>(sql.OLD_IDS);
  const timeline = timelineOf(database);
  const expired = expiry(database);
  const removeId = database.prepare(sql.REMOVE_ID);
  const countRemoved = database.prepare(sql.TALLY_REMOVED_IDS);

  return ({ retention, now, limit: most, isDryRun = false }: PurgeRequest, position: Position): PageWork => {
    const limit = isDryRun ? most : room.fitting(most);
    const cutoff = now - retention.idsMs;
    const rows = oldIds.all(position.after, MAX_COMPARED_EVENTS);
    const timeOf = timeline(rows, now);
    const timed = rows.map((row) => ({ ...row, ...timeOf(row) }));
    const isDone = timed.some(({ at, isAhead }) => at > cutoff && !isAhead);
    const old = timed.filter(({ at }) => at <= cutoff).map((row) => ({ ...row, receivedAt: row.at }));
    const rule = createPurgeRule(retention, NO_TOTALS, now);
    // In a dry run the expired events are still there.
    const isGone = (row: IdRow) => row.hasContents === 0 || (isDryRun && expired(row, rule) !== null);
    const ids = old.filter(isGone).slice(0, limit);
    if (!isDryRun && ids.length > 0) {
      room.make();
      for (const { event } of ids) removeId.run(event);
      countRemoved.run(ids.length);
    }
    const isFull = ids.length === limit;
    const hasMore = isFull || (rows.length === MAX_COMPARED_EVENTS && !isDone);
    const after = (isFull ? ids.at(-1) : rows.at(-1))?.event ?? 0;
    const next: Position | null = hasMore ? { ...position, after } : isDryRun ? null : { ...START, phase: "space" };
    return { ...NOTHING, ids: ids.length, hasWorked: ids.length > 0, next: next && JSON.stringify(next) };
  };
}

/** Returns free pages to the disk: all of them if the disk is low. Returns whether more can be returned. */
function spaceReclaim(database: Database, room: PurgeRoom): () => boolean {
  const freePages = () => database.pragma("freelist_count", { simple: true }) as number;
  const pages = () => database.pragma("page_count", { simple: true }) as number;

  return () => {
    const spare = isSpaceLow(database.name) ? 0 : Math.max(SPARE_PAGES, SPARE_SHARE * pages());
    if (freePages() <= spare) return false;
    database.pragma(`incremental_vacuum(${room.fitting(RECLAIMED_PAGES, "page")})`);
    return true;
  };
}
