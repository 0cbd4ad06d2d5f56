import type { EventName } from "../events/store.ts";
import { type PayloadCodec, ROW, type RowContent } from "../storage/payload-codec.ts";
import type { Queries } from "./connection.ts";

/**
 * Adds an event, unless its id is taken: source, event id, type, now, size, secret, address, headers, content type,
 * payload.
 */
const ADD = `
WITH added AS (
  INSERT INTO authserve.events (source, event_id, type, received_at, size)
  VALUES ($1::text, $2::text, $3::text, $4::bigint, $5::bigint)
  ON CONFLICT DO NOTHING RETURNING id, size),
stored AS (
  INSERT INTO authserve.contents (event, secret, address, headers, content_type, payload)
  SELECT id, $6::text, $7::text, $8::text, $9::text, $10::bytea FROM added),
queued AS (INSERT INTO authserve.unrouted SELECT id FROM added)
INSERT INTO authserve.tally (queued, queued_bytes, ids) SELECT 1, size, 1 FROM added`;

/** An event that is made of what was kept beside another one. */
export interface KeptEvent {
  name: EventName;
  type: string;
  secret: string;
  address: string;
  contentType: string;
  /** Its headers and its payload. */
  content: RowContent;
  now: number;
}

/** Adds an event. Returns false if its id is taken. */
export async function addKept(queries: Queries, codec: PayloadCodec, kept: KeptEvent): Promise<boolean> {
  const { name, type, secret, address, contentType, content, now } = kept;
  const size = content.bytes.length + Buffer.byteLength(content.text);
  const { text, bytes } = codec.seal(ROW.contents(name.source, name.eventId), content);
  const values = [name.source, name.eventId, type, now, size, secret, address, text, contentType, bytes];
  return (await queries.run(ADD, values)) > 0;
}
