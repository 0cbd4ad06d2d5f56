import { hash } from "node:crypto";
import type { Appended, NewEvent } from "../events/store.ts";
import { atomic, type Database } from "./database.ts";
import * as sql from "./events-sql.ts";

// The same objects each time: what crosses to another thread is then a reference for each delivery, not a copy.
const NEW: Appended = Object.freeze({ duplicate: false, conflict: false });
const DUPLICATE: Appended = Object.freeze({ duplicate: true, conflict: false });
const CONFLICT: Appended = Object.freeze({ duplicate: true, conflict: true });

/** Stores batches of deliveries, each batch in one transaction. */
export function eventAppend(database: Database): (batch: NewEvent[]) => Appended[] {
  const append = database.prepare(sql.APPEND);
  const storedPayload = database.prepare<unknown[], { id: number; payload: Buffer }>(sql.STORED_PAYLOAD);
  const addConflict = database.prepare(sql.ADD_CONFLICT);

  function appendOne(event: NewEvent): Appended {
    const { source, eventId, type, receivedAt, address, headers, contentType, payload } = event;
    const { changes } = append.run(
      source,
      eventId,
      type,
      receivedAt,
      receivedAt,
      address,
      headers,
      contentType,
      payload,
    );
    if (changes === 1) return NEW;
    const stored = storedPayload.get({ eventId, source });
    if (!stored || stored.payload.equals(payload)) return DUPLICATE;
    const payloadSha256 = hash("sha256", payload, "buffer");
    addConflict.run({ event: stored.id, payloadSha256, payload, address, receivedAt });
    return CONFLICT;
  }
  return atomic(database, (batch: NewEvent[]) => batch.map(appendOne));
}
