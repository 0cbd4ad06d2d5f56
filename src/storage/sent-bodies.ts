import type { JobName } from "../events/job.ts";
import type { EventStore, HistoryEvent, SentBody } from "../events/store.ts";
import { type PayloadCodec, ROW } from "./payload-codec.ts";
import { changed, type QueryPort, row } from "./query.ts";

const READ = `
SELECT body AS payload, content_type AS "contentType" FROM authserve.sent_bodies WHERE event = $1 AND route = $2`;

/** Keeps a body for a job that still exists, and whose event was not erased: event, route, content type, body. */
const KEEP = `
INSERT INTO authserve.sent_bodies (event, route, content_type, body)
SELECT event, route, $3, $4 FROM authserve.jobs WHERE event = $1 AND route = $2
  AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = $1)
ON CONFLICT DO NOTHING`;

/** Forgets the bodies of the ended jobs of an event: event id, source. */
const FORGET_ENDED = `
DELETE FROM authserve.sent_bodies WHERE (event, route) IN (
  SELECT event, route FROM authserve.jobs
  WHERE event = (SELECT id FROM authserve.events WHERE event_id = $1 AND source = $2) AND status <> 'queued')`;

export type SentBodyPort = Pick<EventStore, "sentBody" | "keepSentBody" | "forgetSentBodies">;

/** A job of an event, with the body that it has sent; without one if it sent the payload. */
export interface SentRow {
  route: string;
  attempts: number;
  contentType: string | null;
  payload: Uint8Array | null;
}

/** A job in the history of its event. */
export function sentBy(codec: PayloadCodec, event: number, row: SentRow): HistoryEvent["jobs"][number] {
  const { route, attempts, contentType, payload } = row;
  if (contentType === null || payload === null) return { route, attempts, body: null };
  return { route, attempts, body: openSentBody(codec, { event, route }, { contentType, payload }) };
}

/** A stored body of a job as it was sent. */
function openSentBody(codec: PayloadCodec, { event, route }: JobName, { contentType, payload }: SentBody): SentBody {
  const { text, bytes } = codec.open(ROW.sentBody(event, route), { text: contentType, bytes: payload });
  return { contentType: text, payload: bytes };
}

/** Keeps what is sent for jobs instead of the payloads. */
export function sentBodies(codec: PayloadCodec): QueryPort<SentBodyPort> {
  const read = (job: JobName) =>
    row<SentBody>(READ, job.event, job.route).as((found) => (found ? openSentBody(codec, job, found) : null));

  return {
    sentBody: read,
    *keepSentBody(job, body) {
      const { event, route } = job;
      const { text, bytes } = codec.seal(ROW.sentBody(event, route), { text: body.contentType, bytes: body.payload });
      yield* changed(KEEP, event, route, text, bytes);
      // Another server may have kept one.
      return (yield* read(job)) ?? body;
    },
    forgetSentBodies: ({ eventId, source }) => changed(FORGET_ENDED, eventId, source),
  };
}
