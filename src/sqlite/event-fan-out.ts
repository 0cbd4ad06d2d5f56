import { pendingOf } from "../events/captured.ts";
import type { NewJob } from "../events/job.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import type { Origin } from "../events/moves.ts";
import type { EventPayload, EventStore, PendingEvent } from "../events/store.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { ADD_DEAD_LETTER } from "./event-claims.ts";
import { eventTally } from "./event-tally.ts";
import { ROUTED_TO } from "./events-sql.ts";
import { statWriter } from "./stats.ts";
import { eventReader } from "./stored-event.ts";

type FanOutPort = Pick<EventStore, "pending" | "payloads" | "addJobs">;

/**
 * Finds events without jobs and adds their jobs. Ids grow in commit order, so one id marks the progress of fan-out.
 * `reader` is the connection that reads payloads.
 */
export function eventFanOut(database: Database, reader: Database, codec: PayloadCodec): SyncPort<FanOutPort> {
  const pending = database.prepare<unknown[], PendingEvent & { secret: string | null }>(`
    SELECT id, source, type, received_at AS receivedAt, (SELECT secret FROM contents WHERE event = id) AS secret
    FROM events WHERE id > (SELECT routed_to FROM tally) ORDER BY id LIMIT +?`);
  const readEvent = eventReader(reader, codec);
  const routedTo = database.prepare(ROUTED_TO).pluck();
  const addJob = database.prepare("INSERT INTO jobs (event, route, status, due_at) VALUES (?, ?, 'queued', ?)");
  // It is due if no job of the key is before it.
  const addJobInLine = database.prepare(`
    INSERT INTO jobs (event, route, status, ordering_key, in_line, due_at)
    VALUES (@event, @route, 'queued', @orderingKey, 1, CASE WHEN NOT EXISTS (
      SELECT 1 FROM jobs WHERE route = +@route AND ordering_key = +@orderingKey AND in_line = 1) THEN @dueAt END)`);
  const addFailedJob = database.prepare(`
    INSERT INTO jobs (event, route, status, ended_at, last_error) VALUES (?, ?, 'failed', ?, ?)`);
  const addDeadLetter = database.prepare(ADD_DEAD_LETTER);
  const addToIndexes = ["type", "source"].map((column) =>
    database.prepare(`
      INSERT INTO events_by_${column} (${column}, event) SELECT ${column}, id FROM events WHERE id > ? AND id <= ?`),
  );
  const addMinutes = database.prepare(`
    INSERT INTO events_by_minute (minute, first_event, last_event)
    SELECT received_at / 60000 AS minute, min(id), max(id) FROM events WHERE id > ? AND id <= ? GROUP BY minute
    ON CONFLICT DO UPDATE SET last_event = excluded.last_event`);
  // An unrouted event is processed.
  const countEvents = database.prepare(`
    UPDATE tally SET routed_to = @upTo, queued = queued + @queued, unrouted = unrouted + @unrouted,
      processed = processed + @unrouted, processed_bytes = processed_bytes + @unroutedBytes`);
  const originsOfUnrouted = database.prepare<unknown[], Origin>(`
    SELECT source, received_at AS receivedAt, size FROM events
    WHERE id > ? AND id <= ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.event = events.id)`);
  const addUntaken = database.prepare(`
    INSERT INTO untaken SELECT id FROM events
    WHERE id > ? AND id <= ? AND NOT EXISTS (SELECT 1 FROM jobs WHERE jobs.event = events.id)`);
  const countStats = statWriter(database);
  const tally = eventTally(database);

  function addFailed({ event, route, dueAt: now }: NewJob, failure: string): void {
    addFailedJob.run(event, route, now, failure);
    addDeadLetter.run(event, route, now, failure, 0);
  }

  function add(job: NewJob): void {
    if (job.failure !== undefined) addFailed(job, job.failure);
    else if (job.orderingKey === null) addJob.run(job.event, job.route, job.dueAt);
    else addJobInLine.run(job);
  }

  /** Notes and counts the unrouted events after an event. Returns their bytes. */
  function addUnrouted(after: number, upTo: number): number {
    addUntaken.run(after, upTo);
    const origins = originsOfUnrouted.all(after, upTo);
    countStats((counts) => {
      for (const { source, receivedAt } of origins) counts.add({ at: receivedAt, source, outcome: "unrouted" });
    });
    return origins.reduce((sum, { size }) => sum + size, 0);
  }

  return {
    pending: (limit) => pending.all(limit).map(pendingOf),
    payloads(events) {
      const payloads: (EventPayload | null)[] = [];
      let bytes = 0;
      for (const event of events) {
        const { event: stored } = readEvent(event);
        bytes += stored?.payload.length ?? 0;
        if (payloads.length > 0 && bytes > MAX_PAYLOAD_BYTES) break;
        payloads.push(stored && { payload: stored.payload, contentType: stored.contentType, headers: stored.headers });
      }
      return payloads;
    },
    addJobs: atomic(database, (events: number[], jobs: NewJob[]) => {
      const routed = routedTo.get() as number;
      const upTo = events.at(-1) ?? 0;
      // A retry of a call whose answer was lost.
      if (upTo <= routed) return;
      tally.count((moves) => {
        for (const job of jobs) {
          add(job);
          moves.job(job.route, null, job.failure === undefined ? "queued" : "failed");
        }
        const setAside = new Set(jobs.filter(({ failure }) => failure !== undefined).map(({ event }) => event));
        for (const event of setAside) moves.event(event, "queued", tally.statusOf(event));
      });
      for (const statement of [...addToIndexes, addMinutes]) statement.run(routed, upTo);
      const queued = new Set(jobs.map(({ event }) => event)).size;
      const unrouted = upTo - routed - queued;
      countEvents.run({ upTo, queued, unrouted, unroutedBytes: unrouted === 0 ? 0 : addUnrouted(routed, upTo) });
    }),
  };
}
