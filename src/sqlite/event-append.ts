import { crc32 } from "node:zlib";
import {
  bringsOtherId,
  CONFLICT,
  DUPLICATE,
  decideTaken,
  digestOf,
  duplicateOf,
  idByBytes,
  isWithin,
  MAX_REPEATS,
  NEW,
  type SameBytes,
  type StoredEvent,
} from "../events/dedupe.ts";
import { numbered } from "../events/free-number.ts";
import type { Appended, NewEvent } from "../events/store.ts";
import { orNull, type PayloadCodec, PLAIN_CODEC, ROW } from "../storage/payload-codec.ts";
import { atomic, type Database } from "./database.ts";
import { freeNumbers } from "./free-numbers.ts";
import { statWriter } from "./stats.ts";

interface StoredRow {
  id: number;
  bytesSha256: Buffer | null;
  /** Null once retention has removed them. */
  headers: string | null;
  /** Also null if it was erased. */
  payload: Buffer | null;
}

/** Stores batches of deliveries, each batch in one transaction. */
export function eventAppend(database: Database, codec: PayloadCodec = PLAIN_CODEC): (batch: NewEvent[]) => Appended[] {
  const insert = database.prepare(`
    INSERT INTO events (source, event_id, type, received_at, size, bytes_sha256) VALUES (?, ?, ?, ?, ?, ?)
    ON CONFLICT DO NOTHING`);
  const addContents = database.prepare(`
    INSERT INTO contents (event, address, headers, content_type, secret, payload_crc32, payload)
    VALUES (?, ?, ?, ?, ?, ?, ?)`);
  const storedRow = database.prepare<unknown[], StoredRow>(`
    SELECT id, bytes_sha256 AS bytesSha256, headers, CASE WHEN erased_at IS NULL THEN payload END AS payload
    FROM events LEFT JOIN contents ON contents.event = events.id LEFT JOIN erasures ON erasures.event = events.id
    WHERE event_id = ? AND source = ?`);
  const sameBytes = database.prepare<unknown[], SameBytes>(`
    SELECT id, event_id AS eventId, received_at AS receivedAt
    FROM events WHERE bytes_sha256 = ? AND source = ? AND bytes_sha256 IS NOT NULL`);
  // Gives the digest to a later event with the same bytes.
  const forgetBytes = database.prepare("UPDATE events SET bytes_sha256 = NULL WHERE id = ?");
  const freeNumberOf = freeNumbers(database);
  const addConflict = database.prepare(`
    INSERT INTO conflicts (event, payload_sha256, payload_crc32, payload, type, secret, content_type, headers,
      address, first_at, last_at, deliveries)
    VALUES (@event, @payloadSha256, @payloadCrc32, @payload, @type, @secret, @contentType, @headers, @address,
      @receivedAt, @receivedAt, 1)
    ON CONFLICT (event, payload_sha256) DO UPDATE SET last_at = max(last_at, excluded.last_at),
      deliveries = deliveries + 1`);
  const countConflict = database.prepare("UPDATE tally SET conflicts = conflicts + 1");
  // Returns nothing if the event is removed or erased.
  const addRepeat = database.prepare<unknown[], { number: number; deliveries: number }>(`
    INSERT INTO repeats (event, number, event_id, type, secret, content_type, headers, address, first_at, last_at,
      deliveries)
    SELECT event, coalesce((SELECT max(number) FROM repeats WHERE event = @event), 0) + 1, @eventId, @type, @secret,
      @contentType, @headers, @address, @receivedAt, @receivedAt, 1
    FROM contents WHERE event = @event AND NOT EXISTS (SELECT 1 FROM erasures WHERE erasures.event = @event)
    ON CONFLICT (event, event_id) DO UPDATE SET last_at = max(last_at, excluded.last_at), deliveries = deliveries + 1
    RETURNING number, deliveries`);
  const dropRepeats = database.prepare("DELETE FROM repeats WHERE event = ? AND number <= ?");
  const countStats = statWriter(database);

  function isInserted(event: NewEvent, eventId: string): boolean {
    const { source, type, receivedAt, address, headers, contentType, secret, bytesSha256, payload } = event;
    const digest = bytesSha256 === null ? null : Buffer.from(bytesSha256, "hex");
    const size = payload.length + Buffer.byteLength(headers);
    const { changes, lastInsertRowid } = insert.run(source, eventId, type, receivedAt, size, digest);
    if (changes === 0) return false;
    const { text, bytes } = codec.seal(ROW.contents(source, eventId), { text: headers, bytes: payload });
    addContents.run(lastInsertRowid, address, text, contentType, secret, crc32(bytes), bytes);
    return true;
  }

  function sameAs({ bytesSha256, source }: NewEvent): SameBytes | undefined {
    return bytesSha256 === null ? undefined : sameBytes.get(Buffer.from(bytesSha256, "hex"), source);
  }

  function storedAs({ eventId, source, payload: given }: NewEvent): StoredEvent | undefined {
    const row = storedRow.get(eventId, source);
    if (!row) return undefined;
    const { id, bytesSha256, headers: text, payload: bytes } = row;
    const content = text !== null && bytes !== null ? { text, bytes } : null;
    // Without the key it is as if retention had removed them.
    const stored = content && orNull(() => codec.open(ROW.contents(source, eventId), content));
    const hasSameBytes = stored && Buffer.compare(stored.bytes, given) === 0;
    return { id, bytesSha256: bytesSha256?.toString("hex") ?? null, hasSameBytes };
  }

  /** Stores an event under its digest because other bytes have its id. */
  function appendByBytes(event: NewEvent): Appended {
    const eventId = idByBytes(event);
    return { ...(isInserted(event, eventId) ? NEW : DUPLICATE), eventId };
  }

  function appendTaken(event: NewEvent): Appended {
    const isSigned = event.bytesSha256 === null;
    const decision = decideTaken(event, isSigned ? storedAs(event) : undefined, sameAs(event));
    if (decision.is === "new bytes") return appendByBytes(event);
    if (decision.is === "duplicate") return decision.of ? duplicate(decision.of, event) : DUPLICATE;
    const { payload, type, secret, contentType, headers, address, receivedAt } = event;
    const digest = digestOf(event);
    const { text, bytes } = codec.seal(ROW.conflict(decision.with, digest), { text: headers, bytes: payload });
    const stored = { payloadSha256: Buffer.from(digest, "hex"), payloadCrc32: crc32(bytes), payload: bytes };
    addConflict.run({ event: decision.with, ...stored, type, secret, contentType, headers: text, address, receivedAt });
    countConflict.run();
    return CONFLICT;
  }

  function duplicate(same: SameBytes, event: NewEvent): Appended {
    return duplicateOf(event, same.eventId, bringsOtherId(event, same.eventId) && isNewRepeat(same.id, event));
  }

  /** Keeps a repeat of a stored event. Returns false if it is kept already, or the event is removed. */
  function isNewRepeat(stored: number, event: NewEvent): boolean {
    const { eventId, type, secret, contentType, address, receivedAt } = event;
    const headers = codec.sealText(ROW.repeat(stored, eventId), event.headers);
    const added = addRepeat.get({ event: stored, eventId, type, secret, contentType, headers, address, receivedAt });
    if (added?.deliveries !== 1) return false;
    dropRepeats.run(stored, added.number - MAX_REPEATS);
    return true;
  }

  /** Stores an event of a source in which only the same bytes within a time are a duplicate. */
  function appendWithin(event: NewEvent, sameWithinMs: number): Appended {
    const same = sameAs(event);
    if (same && isWithin(event, same, sameWithinMs)) return duplicate(same, event);
    if (same) forgetBytes.run(same.id);
    if (isInserted(event, event.eventId)) return NEW;
    const eventId = numbered(event.eventId, freeNumberOf(event));
    isInserted(event, eventId);
    return { ...NEW, eventId };
  }

  function appendOne(event: NewEvent): Appended {
    if (event.sameWithinMs !== null) return appendWithin(event, event.sameWithinMs);
    return isInserted(event, event.eventId) ? NEW : appendTaken(event);
  }

  return atomic(database, (batch: NewEvent[]) =>
    countStats((counts) =>
      batch.map((event) => {
        const appended = appendOne(event);
        const { source, receivedAt: at } = event;
        if (!appended.duplicate) counts.add({ at, source, outcome: "received" });
        return appended;
      }),
    ),
  );
}
