import { DIGEST_PREFIX } from "../events/event.ts";
import { isDiscardable, isReplayable, isStillFound } from "../events/open-job-page.ts";
import type { CountedPage, EventName, EventStore, JobFilter, PageRequest } from "../events/store.ts";
import { findOpenJobs } from "../storage/open-jobs.ts";
import { type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import type { Postgres, Queries } from "./connection.ts";
import type { EventTally } from "./event-tally.ts";
import { type Changes, changeJobs } from "./job-changes.ts";
import type { JobRow } from "./job-rows.ts";
import { addKept, type KeptEvent } from "./kept-events.ts";
import { runQuery } from "./queries.ts";
import { replayRepeat } from "./repeats.ts";

const FIND = `SELECT id FROM authserve.events WHERE event_id = $1 AND source = $2`;

/** A conflict of an event: event id, source, how many are before it. */
const CONFLICT = `
SELECT event, encode(payload_sha256, 'hex') AS "payloadSha256", type, secret, address, headers, content_type AS "contentType", payload
FROM authserve.conflicts WHERE event = (SELECT id FROM authserve.events WHERE event_id = $1 AND source = $2)
ORDER BY first_at, payload_sha256 LIMIT 1 OFFSET $3`;

interface ConflictRow extends Omit<KeptEvent, "name" | "content" | "now"> {
  event: number;
  payloadSha256: string;
  headers: string;
  payload: Uint8Array;
}

/** Forgets the body of a job: event, route. */
const FORGET_SENT_BODY = "DELETE FROM authserve.sent_bodies WHERE event = $1 AND route = $2";

/** Changes one job of those that an operation chooses. */
type ChangeJob = (changes: Changes, job: JobRow, queries: Queries) => void;

type ReplayPort = Pick<
  EventStore,
  "replay" | "replayAll" | "replayConflict" | "replayRepeat" | "discard" | "discardAll"
>;

/** Queues failed jobs again, or discards jobs: those of one event, or page by page those that match a filter. */
export function eventReplay(postgres: Postgres, tally: EventTally, codec: PayloadCodec): ReplayPort {
  const changing = jobChanges(postgres, tally);
  const replaying =
    (now: number, forgetsBodies = false): ChangeJob =>
    (changes, job, queries) => {
      if (forgetsBodies) void queries.run(FORGET_SENT_BODY, [job.event, job.route]);
      requeue(changes, job, job.orderingKey, now);
    };
  const discarding =
    (reason: string, now: number): ChangeJob =>
    (changes, job) =>
      discard(changes, job, reason, now);

  return {
    replay: (name, now, forgetsBodies) => changing.ofEvent(name, now, isReplayable, replaying(now, forgetsBodies)),
    replayAll: (filter, now, page, forgetsBodies) =>
      changing.ofPage(filter, now, page, isReplayable, replaying(now, forgetsBodies)),
    discard: (name, reason, now) => changing.ofEvent(name, now, isDiscardable, discarding(reason, now)),
    discardAll: (filter, reason, now, page) =>
      changing.ofPage(filter, now, page, isDiscardable, discarding(reason, now)),
    async replayConflict({ eventId, source }, conflict, now) {
      const [row] = await postgres.rows<ConflictRow>(CONFLICT, [eventId, source, conflict - 1]);
      if (!row) return false;
      const { event, payloadSha256, headers: text, payload: bytes } = row;
      const content = codec.open(ROW.conflict(event, payloadSha256), { text, bytes });
      const name = { eventId: DIGEST_PREFIX + payloadSha256, source };
      const added = await addKept(postgres, codec, { ...row, name, content, now });
      tally.note();
      return added;
    },
    async replayRepeat(event, repeat, now) {
      const newId = await replayRepeat(postgres, codec, event, repeat, now);
      tally.note();
      return newId;
    },
  };
}

/** Queues an ended job again with a fresh budget, in the line of an ordering key. */
export function requeue(changes: Changes, job: JobRow, orderingKey: string | null, now: number): void {
  changes.noDeadLetters.push({ event: job.event, route: job.route });
  changes.change(job, {
    status: "queued",
    orderingKey,
    inLine: orderingKey !== null,
    dueAt: orderingKey === null ? now : null,
    isReplay: true,
    replays: job.replays + 1,
    attemptsBeforeReplay: job.attempts,
  });
}

/** Discards a job. */
export function discard(changes: Changes, job: JobRow, reason: string, now: number): void {
  const { event, route } = job;
  changes.discards.push({ event, route, at: now, reason });
  changes.noDeadLetters.push({ event, route });
  changes.change(job, { status: "discarded", dueAt: null, inLine: false, endedAt: now });
}

function jobChanges(postgres: Postgres, tally: EventTally) {
  return {
    /** Changes the chosen jobs of an event. Returns their number. */
    async ofEvent(
      name: EventName,
      now: number,
      isChosen: (job: JobRow) => boolean,
      change: ChangeJob,
    ): Promise<number> {
      const event = await findEvent(postgres, name);
      if (event === null) return 0;
      return changeJobs(postgres, tally, { events: [event], now }, (changes, queries) => {
        const jobs = changes.jobsOf(event).filter(isChosen);
        for (const job of jobs) change(changes, job, queries);
        return jobs.length;
      });
    },
    /** Changes the chosen jobs of a page. Returns the number of their events. */
    async ofPage(
      filter: JobFilter,
      now: number,
      page: PageRequest,
      isChosen: (job: JobRow) => boolean,
      change: ChangeJob,
    ): Promise<CountedPage> {
      const { events, next } = await runQuery(postgres, findOpenJobs(filter, page));
      if (events.size === 0) return { count: 0, next };
      const count = await changeJobs(postgres, tally, { events: [...events.keys()], now }, (changes, queries) => {
        let changed = 0;
        for (const [event, routes] of events) {
          const jobs = changes.jobsOf(event).filter((job) => isStillFound(job, routes, filter) && isChosen(job));
          for (const job of jobs) change(changes, job, queries);
          if (jobs.length > 0) changed++;
        }
        return changed;
      });
      return { count, next };
    },
  };
}

/** The number of an event; null if there is none. */
export async function findEvent(postgres: Postgres, { eventId, source }: EventName): Promise<number | null> {
  const [row] = await postgres.rows<{ id: number }>(FIND, [eventId, source]);
  return row?.id ?? null;
}
