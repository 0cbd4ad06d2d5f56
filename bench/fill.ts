import { DEFAULT_ROUTE } from "../src/events/job.ts";
import { atomic, openDatabase } from "../src/sqlite/database.ts";
import { type SqliteEvents, sqliteEvents } from "../src/sqlite/events.ts";
import { eventIdOf, type Ids } from "./corpus.ts";
import { storedEvent } from "./stored-event.ts";

/** Adds processed events until `target` are stored. They were received and processed at `now`. */
export function fill(dataDir: string, stored: number, target: number, ids: Ids, now = Date.now()): void {
  const database = openDatabase(dataDir);
  database.pragma("synchronous = OFF");
  // 1 GB, because random ids are inserted all over the index.
  database.pragma("cache_size = -1000000");
  const events = sqliteEvents(database);
  const payload = Buffer.alloc(260, "x");
  const add = atomic(database, (from: number, to: number) => {
    const batch = Array.from({ length: to - from }, (_, index) =>
      storedEvent({
        eventId: eventIdOf(ids, "evt_fill_", from + index),
        type: (from + index) % 3 ? "payment_intent.succeeded" : "payment_intent.created",
        payload,
        receivedAt: now,
      }),
    );
    events.append(batch);
    processAll(events, batch.length, now);
  });
  for (let from = stored; from < target; from += 10_000) add(from, Math.min(from + 10_000, target));
  database.close();
}

/** Gives events their jobs, and processes them. */
export function processAll(events: SqliteEvents, count: number, now: number): void {
  fanOut(events, count);
  const { claimed } = events.claim({ ...CLAIM, limit: count, now });
  events.settle(
    claimed.map(({ event, route, attempt }) => {
      const claim = { event, route, owner: CLAIM.owner, attempt };
      return { ...claim, next: { to: "processed" as const }, startedAt: now, finishedAt: now, error: null };
    }),
  );
}

export const CLAIM = { route: DEFAULT_ROUTE, owner: "bench", leaseMs: 1, retryDelaysMs: [] };

export function fanOut(events: SqliteEvents, limit: number): void {
  const found = events.pending(limit);
  const jobs = found.map(({ id, receivedAt }) => ({
    event: id,
    route: DEFAULT_ROUTE,
    dueAt: receivedAt,
    orderingKey: null,
  }));
  events.addJobs(
    found.map(({ id }) => id),
    jobs,
  );
}
