import type {
  AttemptRecord,
  Backlog,
  Conflict,
  EventDetail,
  EventFilter,
  EventStore,
  EventSummary,
} from "../events/store.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import type { Sync } from "./promised.ts";

type DetailRow = Omit<EventDetail, "headers" | "leased" | "history" | "deadLetter" | "conflicts"> & {
  id: number;
  headers: string;
  leased: number;
};

type ConflictRow = Omit<Conflict, "payload"> & { id: number; bytes: number };

// A sender that gives all its events one id fills the disk with conflicts. The first of them tell enough, and one body of
// the largest size fits.
const MAX_CONFLICT_BYTES = 64 * 1024 * 1024;

/** What can be asked of stored events, each answer from one moment. */
export type EventReads = Sync<Pick<EventStore, "list" | "get" | "backlog" | "counts">>;

/** Prepares the reads of a database. */
export function eventReads(database: Database): EventReads {
  const backlog = database.prepare<unknown[], Backlog>(sql.BACKLOG);
  const totals = database.prepare<unknown[], { total: number; conflicts: number }>(sql.TOTALS);
  const get = database.prepare<unknown[], DetailRow>(sql.GET);
  const detail = details(database);
  const readBacklog = () => backlog.get() as Backlog;

  const list = database.transaction((filter: EventFilter) => {
    const rows = (text: string) => database.prepare<unknown[], EventSummary>(text).all(filter);
    const claimed = rows(sql.listClaimedStatement(filter));
    if (filter.status !== undefined && filter.status !== "queued") return claimed;
    const unclaimed = rows(sql.listUnclaimedStatement(filter));
    return [...unclaimed, ...claimed].sort((a, b) => b.receivedAt - a.receivedAt).slice(0, filter.limit);
  });
  const getAll = database.transaction((eventId: string, source: string | undefined) =>
    get.all({ eventId, source: source ?? null }).map(detail),
  );
  const counts = database.transaction(() => {
    const { total, conflicts } = totals.get() as { total: number; conflicts: number };
    const rest = readBacklog();
    return { ...rest, processed: total - rest.queued - rest.failed, conflicts };
  });

  return { list, get: (eventId, source) => getAll(eventId, source), backlog: readBacklog, counts };
}

/** Adds to the row of an event what is known of it elsewhere. */
function details(database: Database): (row: DetailRow) => EventDetail {
  const history = database.prepare<unknown[], AttemptRecord>(sql.HISTORY);
  const deadLetter = database.prepare<unknown[], { failedAt: number; reason: string }>(sql.DEAD_LETTER);
  const conflicts = database.prepare<unknown[], ConflictRow>(sql.CONFLICTS);
  const conflictPayload = database.prepare<unknown[], Buffer>(sql.CONFLICT_PAYLOAD).pluck();

  /** Oldest first, each with its bytes as far as they fit. */
  function conflictsOf(event: number): Conflict[] {
    let read = 0;
    return conflicts.all(event).map(({ id, bytes, ...conflict }) => {
      read += bytes;
      return { ...conflict, payload: read > MAX_CONFLICT_BYTES ? null : (conflictPayload.get(id) ?? null) };
    });
  }

  return ({ id, ...row }) => ({
    ...row,
    dueAt: row.status === "queued" ? row.dueAt : null,
    leased: row.leased === 1,
    headers: JSON.parse(row.headers) as Record<string, string>,
    history: history.all(id),
    deadLetter: deadLetter.get(id) ?? null,
    conflicts: conflictsOf(id),
  });
}
