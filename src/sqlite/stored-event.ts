import { crc32 } from "node:zlib";
import { systemCode } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";
import type { Origin } from "../events/moves.ts";
import type { Database } from "./database.ts";

/** The parts of an event that routing and an attempt need. */
type StoredEvent = Pick<
  ClaimedJob,
  "source" | "eventId" | "type" | "contentType" | "receivedAt" | "headers" | "payload"
>;

/** An event, or why it cannot be read. `eventId` is null when the id cannot be read either. */
type Reading = { event: StoredEvent } | { event: null; eventId: string | null; fault: string };

// Errors of a damaged page, or of a sector that the disk cannot read.
const UNREADABLE = /^SQLITE_(?:CORRUPT|IOERR_(?:READ|SHORT_READ|CORRUPTFS|DATA))/;

/** Reads events by number and verifies their checksum. Throws when SQLite fails for a reason other than damage. */
export function eventReader(reader: Database): (event: number) => Reading {
  const get = reader.prepare<unknown[], StoredEvent & { payloadCrc32: number }>(`
    SELECT source, event_id AS eventId, type, content_type AS contentType, received_at AS receivedAt, headers,
      payload_crc32 AS payloadCrc32, payload
    FROM contents JOIN events ON events.id = contents.event WHERE contents.event = +?`);

  return (event) => {
    try {
      const row = get.get(event);
      if (!row) return { event: null, eventId: null, fault: "the database is damaged: the event is missing" };
      const { payloadCrc32, ...stored } = row;
      if (crc32(stored.payload) === payloadCrc32) return { event: stored };
      const fault = "the database is damaged: the stored bytes do not match their checksum";
      return { event: null, eventId: stored.eventId, fault };
    } catch (error) {
      if (!UNREADABLE.test(systemCode(error))) throw error;
      return { event: null, eventId: null, fault: "the database is damaged: the event cannot be read" };
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
