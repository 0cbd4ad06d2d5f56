import { crc32 } from "node:zlib";
import Sqlite from "better-sqlite3";
import type { EventName } from "../../events/store.ts";
import type { Database } from "../database.ts";

/** A payload with its checksum, by the row that has it. SQLite's own checks do not see another byte in a payload. */
const PAYLOADS = ["contents", "conflicts"].map((table) => ({
  all: `SELECT rowid AS id, event, payload_crc32 AS crc, payload FROM ${table}`,
  one: `SELECT rowid AS id, event, payload_crc32 AS crc, payload FROM ${table} WHERE rowid = ?`,
}));

interface PayloadRow {
  id: number;
  event: number;
  crc: number;
  payload: Uint8Array;
}

/** The events of a copy whose bytes do not match their checksum. */
interface Mismatches {
  events: EventName[];
  /** Whether the bytes of one of them were right in the database that was copied. */
  isCopyWrong: boolean;
}

/** Compares each payload of a copy with its checksum. `database` is what was copied, as it was then. */
export function findMismatches(database: Database, copyFile: string): Mismatches {
  const copy = new Sqlite(copyFile, { readonly: true, fileMustExist: true });
  try {
    const name = copy.prepare<[number], EventName>("SELECT event_id AS eventId, source FROM events WHERE id = ?");
    const found: Mismatches = { events: [], isCopyWrong: false };
    for (const { all, one } of PAYLOADS) {
      const original = database.prepare<[number], PayloadRow>(one);
      for (const row of copy.prepare<[], PayloadRow>(all).iterate()) {
        if (isRight(row)) continue;
        found.events.push(name.get(row.event) ?? { eventId: String(row.event), source: "unknown" });
        const before = original.get(row.id);
        if (before !== undefined && isRight(before)) found.isCopyWrong = true;
      }
    }
    return found;
  } finally {
    copy.close();
  }
}

const isRight = ({ crc, payload }: PayloadRow) => crc32(payload) === crc;
