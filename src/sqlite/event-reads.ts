import type { EventRow, ListedJobRow } from "../events/detail.ts";
import { matchesError } from "../events/matches-error.ts";
import { isSearched, JOBS_WINDOW, namedBySearch, searchWindows, WINDOW } from "../events/search-window.ts";
import type { Backlog, EventFilter, EventPage, EventStore } from "../events/store.ts";
import { listPage } from "../events/summary.ts";
import { typeList } from "../events/type-list.ts";
import { orNull, type PayloadCodec, PLAIN_CODEC, ROW } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { ROUTED_TO, UNREADABLE, USED_BYTES } from "./events-sql.ts";
import * as lists from "./lists-sql.ts";

const JOB_IN_LIST = `
  route, status, attempts - probes AS attempts, ordering_key AS orderingKey, due_at AS dueAt,
  lease_owner IS NOT NULL AS leased, ended_at AS endedAt, last_error AS lastError`;

/** Queries on stored events. Each reads one snapshot. */
type EventReads = SyncPort<Pick<EventStore, "list" | "backlog">>;

/** Prepares the reads of a database. */
export function eventReads(database: Database, codec: PayloadCodec = PLAIN_CODEC): EventReads {
  database.function("opened_has", { deterministic: true }, openedHas(codec));
  database.function("opened_answer_has", { deterministic: true }, openedAnswerHas(codec));
  database.function("takes_type", { deterministic: true }, createTypeFilter());
  database.function("matches_error", { deterministic: true }, (error: string | null, part: string) =>
    Number(matchesError(error, part)),
  );
  // An event before fan-out is queued.
  const backlog = database.prepare<unknown[], Backlog>(`
    SELECT queued + (SELECT coalesce(max(id), 0) FROM events) - routed_to AS queued,
      processed - discarded - unrouted AS processed, failed, discarded, unrouted, conflicts, (${UNREADABLE}) AS unreadable,
      (SELECT received_at FROM events WHERE id = coalesce(
        (SELECT min(event) FROM jobs WHERE status = 'queued' AND status <> 'processed'),
        (SELECT min(id) FROM events WHERE id > routed_to))) AS oldestQueuedAt,
      (SELECT coalesce(max(id), 0) FROM events) - removed AS ids,
      ${USED_BYTES} AS bytes
    FROM tally`);
  const jobs = database.prepare<[number], ListedJobRow>(
    `SELECT ${JOB_IN_LIST} FROM jobs WHERE event = ? ORDER BY route`,
  );

  const list = database.transaction((filter: EventFilter) => {
    const rows = (text: string, limit: number) => database.prepare<unknown[], EventRow>(text).all({ ...filter, limit });
    const mayBeQueued = filter.status === undefined || filter.status === "queued";
    const mayBePending = mayBeQueued && filter.error === undefined && filter.route === undefined;
    const pending = mayBePending ? rows(lists.listPendingStatement(filter), filter.limit) : [];
    const routed = rows(lists.listRoutedStatement(filter), filter.limit - pending.length);
    const events = [
      ...pending.map((row) => ({ ...row, jobs: null })),
      ...routed.map((row) => ({ ...row, jobs: jobs.all(row.id) })),
    ];
    return listPage(events, filter);
  });
  const search = windowSearch(database, list);

  return {
    list: (filter) => (isSearched(filter) ? search(filter) : list(filter)),
    backlog: () => backlog.get() as Backlog,
  };
}

/** Lists events window by window. `list` lists those of a window. */
function windowSearch(database: Database, list: (filter: EventFilter) => EventPage) {
  const oldestListed = database.prepare<{ since: number | null }, number>(lists.OLDEST_LISTED).pluck();
  const newestEvent = database.prepare<[], number>("SELECT coalesce(max(id), 0) FROM events").pluck();
  const newestUntil = database.prepare<{ until: number }, number>(lists.NEWEST_UNTIL).pluck();

  const routedTo = database.prepare<[], number>(ROUTED_TO).pluck();

  return (filter: EventFilter): EventPage => {
    const oldest = oldestListed.get({ since: filter.since ?? null }) as number;
    const newest = Math.min(
      (filter.route === undefined ? newestEvent : routedTo).get() as number,
      filter.until === undefined ? Infinity : (newestUntil.get({ until: filter.until }) as number),
    );
    const size = filter.search === undefined ? JOBS_WINDOW : WINDOW;
    const named = namedBySearch(filter);
    const windows = searchWindows(filter, { oldest, newest }, named === null ? [] : list(named).items);
    let step = windows.next();
    while (!step.done) {
      const from = Math.max(step.value.oldest, step.value.before - size);
      step = windows.next({ from, page: list(step.value.filterFrom(from)) });
    }
    return step.value;
  };
}

/** Whether the payload of an encrypted row has a text. One whose key is missing has none. */
const openedHas =
  (codec: PayloadCodec) => (source: string, eventId: string, text: string, bytes: Uint8Array, search: string) => {
    const content = orNull(() => codec.open(ROW.contents(source, eventId), { text, bytes }));
    return content === null ? 0 : Number(content.text.includes(search) || bufferOf(content.bytes).includes(search));
  };

const bufferOf = ({ buffer, byteOffset, length }: Uint8Array) => Buffer.from(buffer, byteOffset, length);

/** Whether an encrypted answer of a target has a text. */
const openedAnswerHas =
  (codec: PayloadCodec) => (event: number, route: string, attempt: number, text: string, search: string) =>
    Number(orNull(() => codec.openText(ROW.response(event, route, attempt), text))?.includes(search) ?? false);

/** Creates a function that tells whether a list of types takes one. A list asks for one after another. */
function createTypeFilter() {
  let last = { list: "", takes: typeList("") };
  return (type: string, list: string) => {
    if (list !== last.list) last = { list, takes: typeList(list) };
    return Number(last.takes(type));
  };
}
