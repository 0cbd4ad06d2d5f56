import type { NewJob } from "../events/job.ts";
import type { Origin } from "../events/moves.ts";
import type { EventStore, PendingEvent } from "../events/store.ts";
import type { Postgres } from "./connection.ts";
import { waitingEvents } from "./event-fan-out.ts";
import { findEvent, requeue } from "./event-replay.ts";
import type { EventTally } from "./event-tally.ts";
import { type Changes, changeJobs } from "./job-changes.ts";
import type { JobRow } from "./job-rows.ts";
import { integers } from "./values.ts";

/**
 * Gives an event to the present routes, unless it is removed or erased, waits for fan-out or is queued: event. The lock
 * keeps a purge from removing it meanwhile.
 */
const REROUTE = `
INSERT INTO authserve.reroutes (event)
SELECT event FROM authserve.contents WHERE event = $1
  AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = $1)
  AND NOT EXISTS (SELECT 1 FROM authserve.unrouted WHERE unrouted.event = $1)
  AND (NOT EXISTS (SELECT 1 FROM authserve.jobs WHERE jobs.event = $1)
    OR EXISTS (SELECT 1 FROM authserve.jobs WHERE jobs.event = $1 AND status <> 'queued'))
FOR KEY SHARE OF contents
ON CONFLICT DO NOTHING`;

const REROUTED = waitingEvents("reroutes");

/** Takes events that wait: events. Another server may have taken them. */
const TAKE = `
DELETE FROM authserve.reroutes WHERE event IN (
  SELECT event FROM authserve.reroutes WHERE event = ANY($1::bigint[]) ORDER BY event FOR UPDATE)
RETURNING event`;

const ORIGINS = `
SELECT id, source, received_at AS "receivedAt", size FROM authserve.events WHERE id = ANY($1::bigint[])`;

/** Gives events to the present routes anew, for a forced replay. */
export function eventReroute(
  postgres: Postgres,
  tally: EventTally,
): Pick<EventStore, "reroute" | "rerouted" | "addRerouted"> {
  return {
    async reroute(name) {
      const event = await findEvent(postgres, name);
      return event !== null && (await postgres.run(REROUTE, [event])) === 1;
    },
    rerouted: (limit) => postgres.rows<PendingEvent>(REROUTED, [limit]),
    async addRerouted(events, jobs, now) {
      const lines = jobs.flatMap(({ route, orderingKey }) => (orderingKey === null ? [] : [{ route, orderingKey }]));
      await changeJobs(postgres, tally, { events, lines, now }, async (changes, queries) => {
        const taken = (await queries.rows<{ event: number }>(TAKE, [integers(events)])).map(({ event }) => event);
        const origins = await queries.rows<Origin & { id: number }>(ORIGINS, [integers(taken)]);
        const originOf = new Map(origins.map(({ id, ...origin }) => [id, origin]));
        for (const job of jobs) {
          if (job.failure !== undefined) continue;
          const origin = originOf.get(job.event);
          if (origin !== undefined) addOrRequeue(changes, job, origin, now);
        }
      });
    },
  };
}

/** Adds a replayed job, or queues it again if it has ended. */
function addOrRequeue(changes: Changes, { event, route, orderingKey }: NewJob, origin: Origin, now: number): void {
  const job = changes.job(event, route);
  if (job === undefined) changes.add(replayedJob({ event, route, orderingKey, ...origin }, now));
  else if (job.status !== "queued") requeue(changes, job, orderingKey, now);
}

function replayedJob(named: Origin & Pick<JobRow, "event" | "route" | "orderingKey">, now: number): JobRow {
  const isOrdered = named.orderingKey !== null;
  return {
    ...named,
    status: "queued",
    attempts: 0,
    probes: 0,
    attemptsBeforeReplay: 0,
    isReplay: true,
    replays: 1,
    inLine: isOrdered,
    dueAt: isOrdered ? null : now,
    leaseOwner: null,
    claimedAt: null,
    endedAt: null,
    lastError: null,
  };
}
