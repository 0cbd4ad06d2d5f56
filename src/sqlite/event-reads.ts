import type { JobStatus } from "../events/event.ts";
import type { AttemptRecord } from "../events/job.ts";
import { MAX_CONFLICT_BYTES } from "../events/limits.ts";
import { matchesError } from "../events/matches-error.ts";
import type {
  Backlog,
  Conflict,
  EventDetail,
  EventFilter,
  EventStore,
  EventSummary,
  JobDetail,
  Repeat,
} from "../events/store.ts";
import { listPage, summaryOf } from "../events/summary.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { payloadSearch } from "./event-search.ts";
import * as sql from "./events-sql.ts";
import * as lists from "./lists-sql.ts";

interface EventRow extends Pick<EventSummary, "source" | "eventId" | "type" | "receivedAt"> {
  id: number;
}

interface DetailRow extends EventRow, Pick<EventDetail, "address" | "secret" | "contentType" | "payload"> {
  headers: string;
}

interface JobRow {
  route: string;
  status: JobStatus;
  attempts: number;
  orderingKey: string | null;
  dueAt: number | null;
  leased: number;
  endedAt: number | null;
  lastError: string | null;
}

type ConflictRow = Omit<Conflict, "number" | "payload"> & { id: number; bytes: number };
type RepeatRow = Omit<Repeat, "headers"> & { headers: string };

/** Queries on stored events. Each reads one snapshot. */
export type EventReads = SyncPort<Pick<EventStore, "list" | "get" | "backlog">>;

/** Prepares the reads of a database. */
export function eventReads(database: Database): EventReads {
  database.function("matches_error", { deterministic: true }, (error: string | null, part: string) =>
    Number(matchesError(error, part)),
  );
  const backlog = database.prepare<unknown[], Backlog>(sql.BACKLOG);
  const get = database.prepare<unknown[], DetailRow>(sql.GET);
  const jobs = database.prepare<unknown[], JobRow>(sql.JOBS);
  const detailOf = details(database);
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
    return get
      .all({ eventId, source: source ?? null })
      .map((row) => detailOf(row, row.id > mark ? null : jobs.all(row.id)));
  });

  const search = payloadSearch(database, list);

  return {
    list: (filter) => (filter.search === undefined ? list(filter) : search(filter)),
    get: (eventId, source) => getAll(eventId, source),
    backlog: () => backlog.get() as Backlog,
  };
}

/** Adds conflicts and repeats to an event, and history and dead letters to its jobs. */
function details(database: Database): (row: DetailRow, jobs: readonly JobRow[] | null) => EventDetail {
  const history = database.prepare<unknown[], AttemptRecord>(sql.HISTORY);
  const deadLetter = database.prepare<unknown[], { failedAt: number; reason: string }>(sql.DEAD_LETTER);
  const discarded = database.prepare<unknown[], { discardedAt: number; reason: string }>(sql.DISCARDED);
  const conflicts = database.prepare<unknown[], ConflictRow>(sql.CONFLICTS);
  const repeats = database.prepare<unknown[], RepeatRow>(sql.REPEATS);
  const conflictPayload = database.prepare<unknown[], Buffer>(sql.CONFLICT_PAYLOAD).pluck();

  /** Oldest first. Payloads beyond the size limit are null. */
  function conflictsOf(event: number): Conflict[] {
    let read = 0;
    return conflicts.all(event).map(({ id, bytes, ...conflict }, place) => {
      read += bytes;
      const payload = read > MAX_CONFLICT_BYTES ? null : (conflictPayload.get(id) ?? null);
      return { number: place + 1, ...conflict, payload };
    });
  }

  /** What is kept beside an event. The numbers of repeats are behind those of conflicts. */
  function keptBeside(event: number): Pick<EventDetail, "conflicts" | "repeats"> {
    const conflicts = conflictsOf(event);
    return {
      conflicts,
      repeats: repeats.all(event).map((row) => ({
        ...row,
        number: conflicts.length + row.number,
        headers: JSON.parse(row.headers) as Record<string, string>,
      })),
    };
  }

  function jobOf(event: number, { endedAt: _, ...job }: JobRow): JobDetail {
    return {
      ...job,
      leased: job.leased === 1,
      deadLetter: deadLetter.get(event, job.route) ?? null,
      discarded: job.status === "discarded" ? (discarded.get(event, job.route) ?? null) : null,
      history: history.all(event, job.route),
    };
  }

  return ({ address, secret, contentType, headers, payload, ...event }, jobs) => ({
    ...summaryOf(event, jobs),
    address,
    secret,
    headers: JSON.parse(headers) as Record<string, string>,
    contentType,
    payload,
    jobs: (jobs ?? []).map((job) => jobOf(event.id, job)),
    ...keptBeside(event.id),
  });
}
