import { type JobStatus, statusOf } from "../events/event.ts";
import { MAX_COMPARED_EVENTS } from "../events/limits.ts";
import {
  chooseEvents,
  chooseIds,
  cursorOf,
  type Expired,
  type PurgeRow,
  positionOf,
  type TotalsRow,
} from "../events/purge-choice.ts";
import { addTaken, NOTHING_TAKEN } from "../events/retention.ts";
import type { EventStore, PurgedPage, PurgeRequest } from "../events/store.ts";
import {
  COMPARED_AFTER,
  COMPARED_BEFORE,
  COMPARED_LATER,
  createTimeline,
  type PlausibleTime,
} from "../events/timeline.ts";
import { parseWrongTimes, WRONG_TIMES, withNote } from "../events/wrong-clock.ts";
import { TABLES_OF_EVENT } from "../storage/tables.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { type EventTally, eventTally, type TallyMoves } from "./event-tally.ts";
import { USED_BYTES } from "./events-sql.ts";
import { createMetadata } from "./metadata.ts";
import { promotion } from "./ordering.ts";
import { isSpaceLow, type PurgeRoom, purgeRoom } from "./reserve.ts";
import { statRemoval } from "./stats.ts";

// A large file with fewer free pages keeps them for new events.
const SPARE_PAGES = 1000;
const SPARE_SHARE = 0.1;
// 2 ms. Each moves a page from the end of the file.
const RECLAIMED_PAGES = 100;
/** About what the jobs, attempts and indexes of an event take. The next page of a purge measures the size again. */
const BYTES_PER_EVENT = 400;

interface JobRow {
  route: string;
  status: JobStatus;
  endedAt: number | null;
  orderingKey: string | null;
}

/** Removes what retention does not keep, in small transactions. */
export function eventRetention(database: Database): SyncPort<Pick<EventStore, "purge" | "noteClock">> {
  const room = purgeRoom(database);
  const purgeContents = contentsPurge(database, room);
  const purgeIds = idsPurge(database, room);
  const reclaim = spaceReclaim(database, room);
  const removeOldStats = statRemoval(database);

  const purge = (request: PurgeRequest): PurgedPage => {
    const startedAt = performance.now();
    // A full disk has no room for the log of overwritten pages.
    database.pragma("secure_delete = FAST");
    try {
      const { hasWorked, ...page } = work(request);
      return { ...page, fruitlessMs: hasWorked ? 0 : performance.now() - startedAt };
    } finally {
      database.pragma("secure_delete = ON");
    }
  };

  const work = (request: PurgeRequest): PageWork => {
    if (request.cursor === undefined && !request.isDryRun) removeOldStats(request.now);
    const position = positionOf(request.cursor);
    switch (position.phase) {
      case "contents":
        return purgeContents(request, position);
      case "ids":
        return purgeIds(request, position);
      case "space": {
        const hasWorked = reclaim();
        return { events: 0, ids: 0, bytes: 0, hasWorked, next: hasWorked ? cursorOf(position) : null };
      }
    }
  };
  return { purge: atomic(database, purge), noteClock: clockNotes(database) };
}

function clockNotes(database: Database): SyncPort<Pick<EventStore, "noteClock">>["noteClock"] {
  const metadata = createMetadata(database);
  const newestId = database.prepare<[], number | null>("SELECT max(id) FROM events").pluck();
  return atomic(database, (note) => {
    const newest = newestId.get() ?? 0;
    const times = parseWrongTimes(metadata.get(WRONG_TIMES));
    const noted = withNote(times, note, newest);
    if (noted !== times) metadata.set(WRONG_TIMES, JSON.stringify(noted));
    return newest;
  });
}

/** A page, and whether something was removed or returned to the disk. */
type PageWork = Omit<PurgedPage, "fruitlessMs"> & { hasWorked: boolean };

type Position = ReturnType<typeof positionOf>;

/** Returns what tells the times of a page of events. */
function timelineOf(database: Database): (rows: readonly PurgeRow[], now: number) => (row: PurgeRow) => PlausibleTime {
  // The newest time of events after a page.
  const later = database
    .prepare<[number], number | null>(`
      SELECT max(received_at) FROM (
        SELECT received_at FROM events WHERE id >= ? + ${COMPARED_AFTER} ORDER BY id LIMIT ${COMPARED_LATER})`)
    .pluck();
  // The newest time of events before a page that is not after a time.
  const earlier = database
    .prepare<[number, number], number | null>(`
      SELECT max(received_at) FROM (
        SELECT received_at FROM events WHERE id < ? ORDER BY id DESC LIMIT ${COMPARED_BEFORE})
      WHERE received_at <= ?`)
    .pluck();
  const metadata = createMetadata(database);
  return ([first], now) => {
    const event = first?.event ?? 0;
    const after = later.get(event) as number | null;
    const before = earlier.get(event, Math.min(now, after ?? now)) as number | null;
    return createTimeline({ earlier: before, later: after }, parseWrongTimes(metadata.get(WRONG_TIMES)), now);
  };
}

const ENDED_JOBS = "SELECT route, status, ended_at AS endedAt, ordering_key AS orderingKey FROM jobs WHERE event = ?";

function contentsPurge(database: Database, room: PurgeRoom) {
  const totals = database.prepare<[], Omit<TotalsRow, "bytesPerEvent"> & { routedTo: number }>(`
    SELECT processed, processed_bytes AS processedBytes, failed, failed_bytes AS failedBytes, routed_to AS routedTo,
      ${USED_BYTES} AS databaseBytes
    FROM tally`);
  const candidates = database.prepare<unknown[], PurgeRow>(`
    SELECT contents.event, received_at AS receivedAt, size AS bytes
    FROM contents CROSS JOIN events ON id = contents.event
    WHERE contents.event > ? AND contents.event <= ? ORDER BY contents.event LIMIT +?`);
  const jobs = database.prepare<[number], JobRow>(ENDED_JOBS);
  const timeline = timelineOf(database);
  const remove = contentsRemoval(database);

  return (request: PurgeRequest, position: Position): PageWork => {
    const { now, isDryRun = false } = request;
    const limit = isDryRun ? request.limit : room.fitting(request.limit);
    const { routedTo, ...found } = totals.get() as ReturnType<typeof totals.get> & object;
    const rows = candidates.all(position.after, routedTo, MAX_COMPARED_EVENTS);
    const { events, bytes, next } = chooseEvents(
      rows,
      { timeOf: timeline(rows, now), jobsOf: (event) => jobs.all(event) },
      { ...request, limit },
      { ...position, totals: { ...found, bytesPerEvent: BYTES_PER_EVENT } },
    );
    if (!isDryRun && events.length > 0) {
      room.make();
      remove(events, now);
    }
    return { events: events.length, ids: 0, bytes, hasWorked: events.length > 0, next };
  };
}

/** Removes events with their jobs, and keeps the counts right. */
function contentsRemoval(database: Database): (events: readonly Expired<JobRow>[], now: number) => void {
  const removeFromIndexes = ["type", "source"].map((column) =>
    database.prepare(`
      DELETE FROM events_by_${column}
      WHERE event = @event AND ${column} = (SELECT ${column} FROM events WHERE id = @event)`),
  );
  const removals = TABLES_OF_EVENT.map((table) => database.prepare(`DELETE FROM ${table} WHERE event = ?`));
  const promote = promotion(database);
  // A clock that was set back must not hide later events.
  const removeMinutes = database.prepare(`
    DELETE FROM events_by_minute
    WHERE minute < (SELECT received_at / 60000 FROM events WHERE id = (SELECT min(event) FROM contents))
      AND last_event < (SELECT min(event) FROM contents)`);
  const countRemoved = database.prepare(`
    UPDATE tally SET processed = processed - ?, processed_bytes = processed_bytes - ?, failed = failed - ?,
      failed_bytes = failed_bytes - ?, discarded = discarded - ?, unrouted = unrouted - ?`);
  const tally: EventTally = eventTally(database);

  function removeOne({ event, jobs }: Expired<JobRow>, now: number, moves: TallyMoves): void {
    for (const statement of removeFromIndexes) statement.run({ event });
    for (const statement of removals) statement.run(event);
    for (const { route, status, orderingKey } of jobs) {
      moves.removed(route, status);
      // A dead letter may have kept the later jobs of its ordering key waiting.
      if (status === "failed") promote(route, orderingKey, now);
    }
  }

  return (events, now) => {
    tally.count((moves) => {
      for (const event of events) removeOne(event, now, moves);
    });
    const { processed, failed } = addTaken(NOTHING_TAKEN, events);
    const statuses = events.map(({ jobs }) => statusOf(jobs.map(({ status }) => status)));
    const [discarded, unrouted] = ["discarded", "unrouted"].map((one) => statuses.filter((is) => is === one).length);
    countRemoved.run(processed.count, processed.bytes, failed.count, failed.bytes, discarded, unrouted);
    removeMinutes.run();
  };
}

function idsPurge(database: Database, room: PurgeRoom) {
  const oldIds = database.prepare<unknown[], PurgeRow & { hasContents: number }>(`
    SELECT id AS event, received_at AS receivedAt, size AS bytes,
      EXISTS (SELECT 1 FROM contents WHERE event = id) AS hasContents
    FROM events WHERE id > ? AND id < (SELECT max(id) FROM events) ORDER BY id LIMIT +?`);
  const jobs = database.prepare<[number], JobRow>(ENDED_JOBS);
  const timeline = timelineOf(database);
  const removeId = database.prepare("DELETE FROM events WHERE id = ?");
  const countRemoved = database.prepare("UPDATE tally SET removed = removed + ?");

  return (request: PurgeRequest, position: Position): PageWork => {
    const { now, isDryRun = false } = request;
    const limit = isDryRun ? request.limit : room.fitting(request.limit);
    const rows = oldIds.all(position.after, MAX_COMPARED_EVENTS);
    const page = { timeOf: timeline(rows, now), jobsOf: (event: number) => jobs.all(event) };
    const { ids, next } = chooseIds(rows, page, { ...request, limit }, position, "space");
    if (!isDryRun && ids.length > 0) {
      room.make();
      for (const event of ids) removeId.run(event);
      countRemoved.run(ids.length);
    }
    return { events: 0, ids: ids.length, bytes: 0, hasWorked: ids.length > 0, next };
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
