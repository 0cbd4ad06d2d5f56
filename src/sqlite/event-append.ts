import { hash } from "node:crypto";
import { crc32 } from "node:zlib";
import { DIGEST_PREFIX } from "../events/event.ts";
import { numbered } from "../events/free-number.ts";
import { bringsOtherId, MAX_REPEATS } from "../events/repeat.ts";
import type { Appended, NewEvent } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";
import { freeNumbers } from "./free-numbers.ts";
import { statWriter } from "./stats.ts";

// Shared objects: structured clone sends a repeated object to another thread once, and then refers to it.
const NEW: Appended = Object.freeze({ duplicate: false, conflict: false });
const DUPLICATE: Appended = Object.freeze({ duplicate: true, conflict: false });
const CONFLICT: Appended = Object.freeze({ duplicate: true, conflict: true });

interface StoredRow {
  id: number;
  /** Of the payload if the id is unsigned, else null. */
  bytesSha256: Buffer | null;
  /** Null once retention has removed it. */
  payload: Buffer | null;
}

/** The event whose bytes came last. */
interface SameBytes {
  id: number;
  eventId: string;
  receivedAt: number;
}

/**
 * Stores batches of deliveries, each batch in one transaction. A known signed id is a duplicate, or a conflict when the
 * bytes differ. With an unsigned id the bytes decide: the same bytes are a duplicate. Other bytes under a known
 * unsigned id are stored under their digest. With a time within which bytes are the same, that alone decides. A duplicate by
 * its bytes that brings another id is kept as a repeat.
 */
export function eventAppend(database: Database): (batch: NewEvent[]) => Appended[] {
  const insert = database.prepare(sql.APPEND);
  const addContents = database.prepare(sql.ADD_CONTENTS);
  const stored = database.prepare<unknown[], StoredRow>(sql.STORED);
  const sameBytes = database.prepare<unknown[], SameBytes>(sql.SAME_BYTES);
  const forgetBytes = database.prepare(sql.FORGET_BYTES);
  const freeNumberOf = freeNumbers(database);
  const addConflict = database.prepare(sql.ADD_CONFLICT);
  const countConflict = database.prepare(sql.COUNT_CONFLICT);
  const addRepeat = database.prepare<unknown[], { number: number; deliveries: number }>(sql.ADD_REPEAT);
  const dropRepeats = database.prepare(sql.DROP_REPEATS);
  const stats = statWriter(database);

  function isInserted(event: NewEvent, eventId: string): boolean {
    const { source, type, receivedAt, address, headers, contentType, secret, bytesSha256, payload } = event;
    const digest = bytesSha256 === null ? null : Buffer.from(bytesSha256, "hex");
    const size = payload.length + Buffer.byteLength(headers);
    const { changes, lastInsertRowid } = insert.run(source, eventId, type, receivedAt, size, digest);
    if (changes === 0) return false;
    addContents.run(lastInsertRowid, address, headers, contentType, secret, crc32(payload), payload);
    return true;
  }

  /** Stores an event under its digest because other bytes have its id. */
  function appendByBytes(event: NewEvent): Appended {
    const eventId = DIGEST_PREFIX + (event.bytesSha256 ?? hash("sha256", event.payload));
    return isInserted(event, eventId) ? { ...NEW, eventId } : { ...DUPLICATE, eventId };
  }

  function appendSigned(event: NewEvent): Appended {
    const { source, eventId, payload } = event;
    const known = stored.get(eventId, source);
    if (!known || known.payload?.equals(payload)) return DUPLICATE;
    const payloadSha256 = hash("sha256", payload, "buffer");
    // An attacker can resend a captured body under any unsigned id. That must not keep the genuine event out.
    if (known.bytesSha256 !== null) return known.bytesSha256.equals(payloadSha256) ? DUPLICATE : appendByBytes(event);
    if (known.payload === null) return DUPLICATE;
    const { type, secret, contentType, headers, address, receivedAt } = event;
    addConflict.run({
      event: known.id,
      payloadSha256,
      payloadCrc32: crc32(payload),
      payload,
      type,
      secret,
      contentType,
      headers,
      address,
      receivedAt,
    });
    countConflict.run();
    return CONFLICT;
  }

  function appendUnsigned(event: NewEvent, bytesSha256: string): Appended {
    const same = sameBytes.get(Buffer.from(bytesSha256, "hex"), event.source);
    return same ? duplicateOf(same, event) : appendByBytes(event);
  }

  /** A duplicate by its bytes. */
  function duplicateOf(same: SameBytes, event: NewEvent): Appended {
    if (same.eventId === event.eventId) return DUPLICATE;
    const isRepeat = bringsOtherId(event, same.eventId) && isNewRepeat(same.id, event);
    return { ...DUPLICATE, ...(isRepeat && { repeat: true }), eventId: same.eventId };
  }

  /** Keeps a repeat of a stored event. Returns false if it is kept already, or the event is removed. */
  function isNewRepeat(stored: number, event: NewEvent): boolean {
    const { eventId, type, secret, contentType, headers, address, receivedAt } = event;
    const added = addRepeat.get({
      event: stored,
      eventId,
      type,
      secret,
      contentType,
      headers,
      address,
      receivedAt,
    });
    if (added?.deliveries !== 1) return false;
    dropRepeats.run(stored, added.number - MAX_REPEATS);
    return true;
  }

  /** Stores an event of a source in which only the same bytes within a time are a duplicate. */
  function appendWithin(event: NewEvent, sameWithinMs: number): Appended {
    const { source, receivedAt, bytesSha256 } = event;
    const same = bytesSha256 === null ? undefined : sameBytes.get(Buffer.from(bytesSha256, "hex"), source);
    if (same && receivedAt - same.receivedAt < sameWithinMs) return duplicateOf(same, event);
    if (same) forgetBytes.run(same.id);
    if (isInserted(event, event.eventId)) return NEW;
    const eventId = numbered(event.eventId, freeNumberOf(event));
    isInserted(event, eventId);
    return { ...NEW, eventId };
  }

  function appendOne(event: NewEvent): Appended {
    if (event.sameWithinMs !== null) return appendWithin(event, event.sameWithinMs);
    if (isInserted(event, event.eventId)) return NEW;
    return event.bytesSha256 === null ? appendSigned(event) : appendUnsigned(event, event.bytesSha256);
  }

  return atomic(database, (batch: NewEvent[]) =>
    stats.count((counts) =>
      batch.map((event) => {
        const appended = appendOne(event);
        const { source, receivedAt: at } = event;
        if (!appended.duplicate) counts.add({ at, source, outcome: "received" });
        return appended;
      }),
    ),
  );
}
