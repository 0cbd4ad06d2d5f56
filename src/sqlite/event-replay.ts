import type { JobStatus } from "../events/event.ts";
import type { Replayed, ReplayFilter } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally, type Moves } from "./event-tally.ts";
import * as sql from "./events-sql.ts";

// Events in one transaction. Deliveries wait for it.
const MAX_REPLAYED = 1000;

/** A job that a replay or a discard changes. */
export interface OpenJob {
  route: string;
  status: JobStatus;
  orderingKey: string | null;
}

/** Queues the jobs of one event again, or those of all dead letters page by page. */
export function eventReplay(database: Database): (filter: ReplayFilter, now: number, page?: string) => Replayed {
  const find = database.prepare(sql.FIND).pluck();
  const replayable = database.prepare<unknown[], OpenJob>(sql.REPLAYABLE);
  const requeue = database.prepare(sql.REQUEUE);
  const promote = database.prepare(sql.PROMOTE);
  const removeDeadLetters = database.prepare(sql.REMOVE_DEAD_LETTERS);
  const replayConflict = database.prepare(sql.REPLAY_CONFLICT);
  const nextPage = deadLetterPages(database);
  const tally = eventTally(database);

  /** Returns whether any job was queued. */
  function replayEvent(event: number, evenIfProcessed: boolean, now: number, moves: Moves): boolean {
    const before = tally.statusOf(event);
    const jobs = replayable.all(event, evenIfProcessed ? 1 : 0);
    for (const { route, status, orderingKey } of jobs) {
      requeue.run(orderingKey === null ? now : null, event, route);
      if (orderingKey !== null) promote.run({ route, orderingKey, now });
      moves.job(route, status, "queued");
    }
    if (jobs.length === 0) return false;
    moves.event(before, "queued");
    removeDeadLetters.run(event);
    return true;
  }

  function replayAll(events: readonly number[], evenIfProcessed: boolean, now: number): number {
    return tally.count((moves) => events.filter((event) => replayEvent(event, evenIfProcessed, now, moves)).length);
  }

  return atomic(database, (filter: ReplayFilter, now: number, page?: string): Replayed => {
    if (filter === "dead letters") {
      const { events, next } = nextPage(page);
      return { count: replayAll(events, false, now), nextPage: next };
    }
    if ("conflict" in filter) return { count: replayConflict.run({ ...filter, now }).changes, nextPage: null };
    const event = find.get(filter.eventId, filter.source) as number | undefined;
    return { count: event === undefined ? 0 : replayAll([event], filter.evenIfProcessed, now), nextPage: null };
  });
}

/** A page token is the last event of the previous page and the last one of the whole replay: "17-2000". */
function deadLetterPages(database: Database): (page?: string) => { events: number[]; next: string | null } {
  const newest = database.prepare(sql.LAST_DEAD_LETTER).pluck();
  const following = database.prepare(sql.NEXT_DEAD_LETTERS).pluck();

  return (page = `0-${newest.get() ?? 0}`) => {
    const [after = 0, last = 0] = page.split("-").map(Number);
    const events = following.all(after, last, MAX_REPLAYED) as number[];
    const end = events[MAX_REPLAYED - 1] ?? last;
    return { events, next: end < last ? `${end}-${last}` : null };
  };
}
