import type { JobName } from "../events/job.ts";
import type { EventName, EventStore, SentBody } from "../events/store.ts";
import { type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

const READ = `SELECT body AS payload, content_type AS contentType FROM sent_bodies WHERE event = @event AND route = @route`;

/** Keeps a body for a job that still exists, and whose event was not erased. */
const KEEP = `
INSERT INTO sent_bodies (event, route, content_type, body)
SELECT event, route, @contentType, @payload FROM jobs WHERE event = @event AND route = @route
  AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.event = @event)
ON CONFLICT DO NOTHING`;

/** Forgets the bodies of the ended jobs of an event: its id and source. */
const FORGET_ENDED = `
DELETE FROM sent_bodies WHERE (event, route) IN (
  SELECT event, route FROM jobs
  WHERE event = (SELECT id FROM events WHERE event_id = @eventId AND source = @source) AND status <> 'queued')`;

/** Forgets the body of a job: event, route. */
export const FORGET_SENT_BODY = "DELETE FROM sent_bodies WHERE event = ? AND route = ?";

type SentBodyPort = Pick<EventStore, "sentBody" | "keepSentBody" | "forgetSentBodies">;

/** Keeps what is sent for jobs instead of the payloads. `reader` is the connection that reads bodies. */
export function sentBodies(database: Database, reader: Database, codec: PayloadCodec): SyncPort<SentBodyPort> {
  const read = reader.prepare<unknown[], SentBody>(READ);
  const readKept = database.prepare<unknown[], SentBody>(READ);
  const keep = database.prepare(KEEP);
  const forgetEnded = database.prepare(FORGET_ENDED);

  function opened({ event, route }: JobName, row: SentBody | undefined): SentBody | null {
    if (!row) return null;
    const { text, bytes } = codec.open(ROW.sentBody(event, route), { text: row.contentType, bytes: row.payload });
    return { contentType: text, payload: bytes };
  }

  return {
    sentBody: (job) => opened(job, read.get(job)),
    keepSentBody: atomic(database, (job: JobName, body: SentBody) => {
      const { event, route } = job;
      const content = { text: body.contentType, bytes: body.payload };
      const { text, bytes } = codec.seal(ROW.sentBody(event, route), content);
      keep.run({ event, route, contentType: text, payload: bytes });
      return opened(job, readKept.get(job)) ?? body;
    }),
    forgetSentBodies: (event: EventName) => void forgetEnded.run(event),
  };
}
