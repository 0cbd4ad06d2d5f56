import { crc32 } from "node:zlib";
import { describeError, systemCode } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";
import type { Origin } from "../events/moves.ts";
import { keyIdIn, missingKey, orNull, type PayloadCodec, ROW, UnsealableError } from "../storage/payload-codec.ts";
import type { Database } from "./database.ts";

/** The parts of an event that routing and an attempt need. */
type StoredEvent = Pick<
  ClaimedJob,
  "source" | "eventId" | "type" | "contentType" | "receivedAt" | "headers" | "payload"
>;

/**
 * An event, or why it cannot be read. `eventId` is null when the id cannot be read either. `isDamaged` is false if only
 * the key is missing.
 */
type Reading = { event: StoredEvent } | { event: null; eventId: string | null; fault: string; isDamaged: boolean };

const DAMAGED = "the database is damaged:";

// Errors of a damaged page, or of a sector that the disk cannot read.
const UNREADABLE = /^SQLITE_(?:CORRUPT|IOERR_(?:READ|SHORT_READ|CORRUPTFS|DATA))/;

/** Reads events by number and verifies their checksum. Throws when SQLite fails for a reason other than damage. */
export function eventReader(reader: Database, codec: PayloadCodec): (event: number) => Reading {
  const get = reader.prepare<unknown[], StoredEvent & { payloadCrc32: number }>(`
    SELECT source, event_id AS eventId, type, content_type AS contentType, received_at AS receivedAt, headers,
      payload_crc32 AS payloadCrc32, payload
    FROM contents JOIN events ON events.id = contents.event WHERE contents.event = +?`);

  const damaged = (eventId: string | null, how: string) => ({
    event: null,
    eventId,
    fault: `${DAMAGED} ${how}`,
    isDamaged: true,
  });

  function opened({ payloadCrc32, ...stored }: StoredEvent & { payloadCrc32: number }): Reading {
    const { source, eventId, headers: text, payload: bytes } = stored;
    if (crc32(bytes) !== payloadCrc32) return damaged(eventId, "the stored bytes do not match their checksum");
    const content = orNull(() => codec.open(ROW.contents(source, eventId), { text, bytes }));
    if (content) return { event: { ...stored, headers: content.text, payload: content.bytes } };
    return { event: null, eventId, fault: `the event ${missingKey(keyIdIn(text) ?? "")}`, isDamaged: false };
  }

  return (event) => {
    let eventId: string | null = null;
    try {
      const row = get.get(event);
      if (!row) return damaged(null, "the event is missing");
      eventId = row.eventId;
      return opened(row);
    } catch (error) {
      if (error instanceof UnsealableError) return damaged(eventId, describeError(error));
      if (!UNREADABLE.test(systemCode(error))) throw error;
      return damaged(null, "the event cannot be read");
    }
  };
}

const UNKNOWN: Origin = { source: "", receivedAt: 0, size: 0 };

/** Reads the origin of an event by number. Its members are empty if they cannot be read. */
export function originReader(reader: Database): (event: number) => Origin {
  const get = reader.prepare<unknown[], Origin>(
    "SELECT source, received_at AS receivedAt, size FROM events WHERE id = ?",
  );

  return (event) => {
    try {
      return get.get(event) ?? UNKNOWN;
    } catch (error) {
      if (!UNREADABLE.test(systemCode(error))) throw error;
      return UNKNOWN;
    }
  };
}
