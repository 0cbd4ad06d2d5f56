import type { NewJob } from "../events/job.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import type { EventPayload, EventStore, UnroutedEvent } from "../events/store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { eventTally } from "./event-tally.ts";
import * as sql from "./events-sql.ts";
import { statWriter } from "./stats.ts";
import { eventReader, type Origin } from "./stored-event.ts";

type FanOutPort = Pick<EventStore, "unrouted" | "payloads" | "addJobs">;

/**
 * Finds events without jobs and adds their jobs. Ids grow in commit order, so one id marks the progress of fan-out.
 * `reader` is the connection that reads payloads.
 */
export function eventFanOut(database: Database, reader: Database): SyncPort<FanOutPort> {
  const unrouted = database.prepare<unknown[], UnroutedEvent>(sql.UNROUTED);
  const readEvent = eventReader(reader);
  const routedTo = database.prepare(sql.ROUTED_TO).pluck();
  const addJob = database.prepare(sql.ADD_JOB);
  const addJobInLine = database.prepare(sql.ADD_JOB_IN_LINE);
  const addToIndexes = [...sql.INDEX_ROUTED, sql.INDEX_MINUTES].map((text) => database.prepare(text));
  const countEvents = database.prepare(sql.TALLY_ROUTED);
  const originsOfUnrouted = database.prepare<unknown[], Origin>(sql.ORIGINS_OF_UNROUTED);
  const stats = statWriter(database);
  const tally = eventTally(database);

  function add(job: NewJob): void {
    if (job.orderingKey === null) addJob.run(job.event, job.route, job.dueAt);
    else addJobInLine.run(job);
  }

  /** Counts the unrouted events after an event. Returns their bytes. */
  function countUnrouted(after: number, upTo: number): number {
    const origins = originsOfUnrouted.all(after, upTo);
    stats.count((counts) => {
      for (const { source, receivedAt } of origins) counts.add({ at: receivedAt, source, outcome: "unrouted" });
    });
    return origins.reduce((sum, { size }) => sum + size, 0);
  }

  return {
    unrouted: (limit) => unrouted.all(limit),
    payloads(events) {
      const payloads: (EventPayload | null)[] = [];
      let bytes = 0;
      for (const event of events) {
        const { event: stored } = readEvent(event);
        bytes += stored?.payload.length ?? 0;
        if (payloads.length > 0 && bytes > MAX_PAYLOAD_BYTES) break;
        payloads.push(stored && { payload: stored.payload, contentType: stored.contentType });
      }
      return payloads;
    },
    addJobs: atomic(database, (events: number[], jobs: NewJob[]) => {
      const mark = routedTo.get() as number;
      const upTo = events.at(-1) ?? 0;
      // A retry of a call whose answer was lost.
      if (upTo <= mark) return;
      tally.count((moves) => {
        for (const job of jobs) {
          add(job);
          moves.job(job.route, null, "queued");
        }
      });
      for (const statement of addToIndexes) statement.run(mark, upTo);
      const queued = new Set(jobs.map(({ event }) => event)).size;
      const unrouted = upTo - mark - queued;
      countEvents.run({ upTo, queued, unrouted, unroutedBytes: unrouted === 0 ? 0 : countUnrouted(mark, upTo) });
    }),
  };
}
