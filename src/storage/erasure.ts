import { hash } from "node:crypto";
import { ERASED } from "../events/erasure.ts";
import type { EventName } from "../events/store.ts";
import { orNull, type PayloadCodec, ROW, type RowContent } from "./payload-codec.ts";
import { changed, type Query, row } from "./query.ts";

/** The content of an event that is not erased: event. */
const FOUND = `
SELECT received_at AS "receivedAt", headers AS text, payload AS bytes
FROM authserve.contents JOIN authserve.events ON id = contents.event
WHERE contents.event = $1 AND NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = $1)`;

/** Removes a content: event, no bytes. */
const CLEAR = `
UPDATE authserve.contents SET address = '', headers = '{}', content_type = '', payload = $2 WHERE event = $1`;

/** What else has data of an event, besides its jobs: event. The identity stays. */
const ERASE = [
  "DELETE FROM authserve.conflicts WHERE event = $1",
  "DELETE FROM authserve.repeats WHERE event = $1",
  "DELETE FROM authserve.sent_bodies WHERE event = $1",
  "DELETE FROM authserve.shadow_differences WHERE event = $1",
  "DELETE FROM authserve.reroutes WHERE event = $1",
  `UPDATE authserve.attempts SET error = CASE WHEN error IS NOT NULL THEN '${ERASED}' END, response = NULL
    WHERE event = $1`,
];

/** Notes an erasure: event, time, reason, digest. */
const ADD = "INSERT INTO authserve.erasures (event, erased_at, reason, payload_sha256) VALUES ($1, $2, $3, $4)";

/** What an erasure of an event notes of it; null if it is removed or erased. */
export const erasable = (codec: PayloadCodec, event: number, { source, eventId }: EventName) =>
  row<RowContent & { receivedAt: number }>(FOUND, event).as((found) => {
    if (!found) return null;
    // Without the key, the digest is that of the encrypted bytes.
    const { bytes } = orNull(() => codec.open(ROW.contents(source, eventId), found)) ?? found;
    return { receivedAt: found.receivedAt, digest: hash("sha256", bytes, "buffer") };
  });

/** Erases an event, but for its jobs. */
export function* eraseContent(
  event: number,
  digest: Buffer,
  { reason, now }: { reason: string; now: number },
): Query<void> {
  yield* changed(CLEAR, event, Buffer.alloc(0));
  for (const text of ERASE) yield* changed(text, event);
  yield* changed(ADD, event, Math.round(now), reason, digest);
}
