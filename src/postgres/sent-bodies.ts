import type { EventStore, SentBody } from "../events/store.ts";
import { type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import type { Postgres } from "./connection.ts";

/** The body of a job: event, route. */
const READ = `SELECT body AS payload, content_type AS "contentType" FROM authserve.sent_bodies WHERE event = $1 AND route = $2`;

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

/** Forgets the body of a job: event, route. */
export const FORGET_SENT_BODY = "DELETE FROM authserve.sent_bodies WHERE event = $1 AND route = $2";

type SentBodyPort = Pick<EventStore, "sentBody" | "keepSentBody" | "forgetSentBodies">;

/** Keeps what is sent for jobs instead of the payloads. */
export function sentBodies(postgres: Postgres, codec: PayloadCodec): SentBodyPort {
  async function read(event: number, route: string): Promise<SentBody | null> {
    const [row] = await postgres.rows<SentBody>(READ, [event, route]);
    if (!row) return null;
    const { text, bytes } = codec.open(ROW.sentBody(event, route), { text: row.contentType, bytes: row.payload });
    return { contentType: text, payload: bytes };
  }

  return {
    sentBody: ({ event, route }) => read(event, route),
    async keepSentBody({ event, route }, body) {
      // Another server may have kept one. A statement of its own sees it.
      const content = { text: body.contentType, bytes: body.payload };
      const { text, bytes } = codec.seal(ROW.sentBody(event, route), content);
      await postgres.run(KEEP, [event, route, text, bytes]);
      return (await read(event, route)) ?? body;
    },
    async forgetSentBodies({ eventId, source }) {
      await postgres.run(FORGET_ENDED, [eventId, source]);
    },
  };
}
