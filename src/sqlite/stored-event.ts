import { crc32 } from "node:zlib";
import { systemCode } from "../errors.ts";
import type { ClaimedJob } from "../events/job.ts";
import type { Database } from "./database.ts";
import * as sql from "./events-sql.ts";

/** What an attempt needs of an event. */
type StoredEvent = Pick<ClaimedJob, "source" | "eventId" | "type" | "contentType" | "receivedAt" | "payload">;

/** An event, or why it cannot be had; `eventId` is null where not even that can be read. */
export type Reading = { event: StoredEvent } | { event: null; eventId: string | null; fault: string };

// What a damaged page, or a sector that the disk does not give back, leads to.
const UNREADABLE = /^SQLITE_(?:CORRUPT|IOERR_(?:READ|SHORT_READ|CORRUPTFS|DATA))/;

/** Reads events by their number, and compares their bytes with what came. Throws when SQLite fails for another reason than damage. */
export function eventReader(reader: Database): (event: number) => Reading {
  const get = reader.prepare<unknown[], StoredEvent & { payloadCrc32: number }>(sql.EVENT_OF_JOB);

  return (event) => {
    try {
      const row = get.get(event);
      if (!row) return { event: null, eventId: null, fault: "the database is damaged: it has lost the event" };
      const { payloadCrc32, ...stored } = row;
      if (crc32(stored.payload) === payloadCrc32) return { event: stored };
      const fault = "the database is damaged: the stored bytes are not those that came";
      return { event: null, eventId: stored.eventId, fault };
    } catch (error) {
      if (!UNREADABLE.test(systemCode(error))) throw error;
      return { event: null, eventId: null, fault: "the database is damaged: the event cannot be read" };
    }
  };
}
