import { crc32 } from "node:zlib";
import { DIGEST_PREFIX } from "../events/event.ts";
import { numbered } from "../events/free-number.ts";
import { isDiscardable, isReplayable } from "../events/open-job-page.ts";
import type { EventName, EventStore } from "../events/store.ts";
import { type PayloadCodec, ROW, type RowContent } from "../storage/payload-codec.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";
import { freeNumbers } from "./free-numbers.ts";
import { type ChangeJob, jobChanges, jobDiscard, jobRequeue } from "./job-changes.ts";

/** What is kept beside an event, of which another one is made. */
interface KeptRow {
  event: number;
  type: string;
  secret: string;
  address: string;
  headers: string;
  contentType: string;
  payload: Uint8Array;
}

type ReplayPort = Pick<
  EventStore,
  "replay" | "replayAll" | "replayConflict" | "replayRepeat" | "discard" | "discardAll"
>;

/**
 * Queues failed jobs again, or discards jobs: those of one event, or those that match a filter. Makes events of what is
 * kept beside one.
 */
export function eventReplay(database: Database, codec: PayloadCodec): SyncPort<ReplayPort> {
  // The last one counts from 0.
  const conflictOf = database.prepare<unknown[], KeptRow & { payloadSha256: string }>(`
    SELECT event, lower(hex(payload_sha256)) AS payloadSha256, type, secret, address, headers,
      content_type AS contentType, payload
    FROM conflicts WHERE event = (SELECT id FROM events WHERE event_id = ? AND source = ?)
    ORDER BY first_at, payload_sha256 LIMIT 1 OFFSET ?`);
  const repeatOf = database.prepare<unknown[], KeptRow & { number: number; ownHeaders: string }>(`
    SELECT repeats.event, number, repeats.type, repeats.secret, repeats.address, repeats.headers,
      repeats.content_type AS contentType, contents.headers AS ownHeaders, payload
    FROM repeats JOIN contents USING (event) JOIN events ON id = event
    WHERE events.event_id = ? AND source = ? AND repeats.event_id = ? AND replayed_as IS NULL`);
  const addEvent = database.prepare(
    "INSERT INTO events (source, event_id, type, received_at, size) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const addContents = database.prepare(`
    INSERT INTO contents (event, secret, address, headers, content_type, payload_crc32, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const repeatReplayed = database.prepare("UPDATE repeats SET replayed_as = ? WHERE event = ? AND number = ?");
  const discard = jobDiscard(database);
  const freeNumberOf = freeNumbers(database);
  const requeue = jobRequeue(database);
  const replayable = jobChanges(database, isReplayable);
  const discardable = jobChanges(database, isDiscardable);
  const forgetBody = database.prepare("DELETE FROM sent_bodies WHERE event = ? AND route = ?");

  /** Adds an event with what is kept beside another one. Returns false if the id is taken. */
  function add({ source, eventId }: EventName, kept: KeptRow, content: RowContent, now: number): boolean {
    const size = content.bytes.length + Buffer.byteLength(content.text);
    const { changes, lastInsertRowid } = addEvent.run(source, eventId, kept.type, now, size);
    if (changes === 0) return false;
    const { secret, address, contentType } = kept;
    const { text, bytes } = codec.seal(ROW.contents(source, eventId), content);
    addContents.run(lastInsertRowid, secret, address, text, contentType, crc32(bytes), bytes);
    return true;
  }

  const replaying =
    (now: number, forgetsBodies = false): ChangeJob =>
    (event, job, moves) => {
      if (forgetsBodies) forgetBody.run(event, job.route);
      requeue(event, job, job.orderingKey, now, moves);
    };
  const discarding =
    (reason: string, now: number): ChangeJob =>
    (event, job, moves) =>
      discard(event, job, { reason, now }, moves);

  return {
    replay: (name, now, forgetsBodies) => replayable.ofEvent(name, replaying(now, forgetsBodies)),
    replayAll: (filter, now, page, forgetsBodies) => replayable.ofPage(filter, page, replaying(now, forgetsBodies)),
    discard: (name, reason, now) => discardable.ofEvent(name, discarding(reason, now)),
    discardAll: (filter, reason, now, page) => discardable.ofPage(filter, page, discarding(reason, now)),
    replayConflict: atomic(database, ({ eventId, source }: EventName, conflict: number, now: number) => {
      const kept = conflictOf.get(eventId, source, conflict - 1);
      if (!kept) return false;
      const { event, payloadSha256, headers: text, payload: bytes } = kept;
      const content = codec.open(ROW.conflict(event, payloadSha256), { text, bytes });
      return add({ source, eventId: DIGEST_PREFIX + payloadSha256 }, kept, content, now);
    }),
    replayRepeat: atomic(database, (name: EventName, repeat: string, now: number) => {
      const { eventId, source } = name;
      const kept = repeatOf.get(eventId, source, repeat);
      if (!kept) return null;
      const { event, number, headers, ownHeaders: text, payload: bytes } = kept;
      const content = {
        text: codec.openText(ROW.repeat(event, repeat), headers),
        bytes: codec.open(ROW.contents(source, eventId), { text, bytes }).bytes,
      };
      let newId = repeat;
      if (!add({ source, eventId: newId }, kept, content, now)) {
        newId = numbered(repeat, freeNumberOf({ eventId: repeat, source }));
        add({ source, eventId: newId }, kept, content, now);
      }
      repeatReplayed.run(newId, event, number);
      return newId;
    }),
  };
}
