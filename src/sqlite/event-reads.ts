import {
  type ConflictRow,
  type DetailAttempt,
  type DetailJob,
  type DetailRow,
  detailOf,
  type EventRow,
  type ListedJobRow,
  type RepeatRow,
} from "../events/detail.ts";
import { MAX_CONFLICT_BYTES } from "../events/limits.ts";
import { matchesError } from "../events/matches-error.ts";
import type { Backlog, EventDetail, EventFilter, EventStore } from "../events/store.ts";
import { listPage } from "../events/summary.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { payloadSearch } from "./event-search.ts";
import * as sql from "./events-sql.ts";
import * as lists from "./lists-sql.ts";

/** Queries on stored events. Each reads one snapshot. */
type EventReads = SyncPort<Pick<EventStore, "list" | "get" | "backlog">>;

/** Prepares the reads of a database. */
export function eventReads(database: Database): EventReads {
  database.function("matches_error", { deterministic: true }, (error: string | null, part: string) =>
    Number(matchesError(error, part)),
  );
  const backlog = database.prepare<unknown[], Backlog>(sql.BACKLOG);
  const get = database.prepare<unknown[], DetailRow>(sql.GET);
  const jobs = database.prepare<[number], ListedJobRow>(sql.JOBS);
  const detail = details(database);
  const routedTo = database.prepare(sql.ROUTED_TO).pluck();

  const list = database.transaction((filter: EventFilter) => {
    const rows = (text: string, limit: number) => database.prepare<unknown[], EventRow>(text).all({ ...filter, limit });
    const mayBeUnrouted = (filter.status === undefined || filter.status === "queued") && filter.error === undefined;
    const unrouted = mayBeUnrouted ? rows(lists.listUnroutedStatement(filter), filter.limit) : [];
    const routed = rows(lists.listRoutedStatement(filter), filter.limit - unrouted.length);
    const events = [
      ...unrouted.map((row) => ({ ...row, jobs: null })),
      ...routed.map((row) => ({ ...row, jobs: jobs.all(row.id) })),
    ];
    return listPage(events, filter);
  });
  const getAll = database.transaction((eventId: string, source: string | undefined) => {
    const mark = routedTo.get() as number;
    return get.all({ eventId, source: source ?? null }).map((row) => detail(row, row.id <= mark));
  });

  const search = payloadSearch(database, list);

  return {
    list: (filter) => (filter.search === undefined ? list(filter) : search(filter)),
    get: (eventId, source) => getAll(eventId, source),
    backlog: () => backlog.get() as Backlog,
  };
}

/** Prepares the reading of what belongs to an event. It has no jobs before fan-out. */
function details(database: Database): (row: DetailRow, isRouted: boolean) => EventDetail {
  const jobs = database.prepare<[number], DetailJob>(sql.JOBS_IN_DETAIL);
  const history = database.prepare<[number], DetailAttempt>(sql.HISTORY);
  const conflicts = database.prepare<[number], ConflictRow & { id: number; bytes: number }>(sql.CONFLICTS);
  const repeats = database.prepare<[number], RepeatRow>(sql.REPEATS);
  const conflictPayload = database.prepare<[number], Buffer>(sql.CONFLICT_PAYLOAD).pluck();

  /** Oldest first. Payloads beyond the size limit are null. */
  function conflictsOf(event: number): ConflictRow[] {
    let read = 0;
    return conflicts.all(event).map(({ id, bytes, ...conflict }) => {
      read += bytes;
      return { ...conflict, payload: read > MAX_CONFLICT_BYTES ? null : (conflictPayload.get(id) ?? null) };
    });
  }

  return (row, isRouted) =>
    detailOf(row, {
      jobs: isRouted ? jobs.all(row.id) : null,
      history: history.all(row.id),
      conflicts: conflictsOf(row.id),
      repeats: repeats.all(row.id),
    });
}
