import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import { type PayloadCodec, PLAIN_CODEC } from "../storage/payload-codec.ts";
import { BODY_BYTES, openHeld, sealHeld } from "../storage/sealed-held.ts";
import {
  beyondBounds,
  type HeldBounds,
  type HeldDelivery,
  type HeldStore,
  type HeldSummary,
  MAX_COMPARED_HELD,
  type OldHeld,
} from "../webhook/held/held-store.ts";
import type { SyncPort } from "./async-store.ts";
import { atomic, type Database } from "./database.ts";

/** The synchronous form of the store of refused deliveries. */
export function sqliteHeld(database: Database, codec: PayloadCodec = PLAIN_CODEC): SyncPort<HeldStore> {
  const add = database.prepare(`
    INSERT INTO held (source, reason, method, origin, target, headers, media_type, address, received_at, body)
    VALUES (@source, @reason, @method, @origin, @target, @headers, @mediaType, @address, @receivedAt, @body)`);
  const count = database.prepare(`
    INSERT INTO held_tally (source, count, bytes) VALUES (?, ?, ?)
    ON CONFLICT (source) DO UPDATE SET count = count + excluded.count, bytes = bytes + excluded.bytes`);
  const oldest = database.prepare<[string], OldHeld>(`
    SELECT id, received_at AS receivedAt, ${BODY_BYTES} AS bytes, tally.count AS allCount, tally.bytes AS allBytes
    FROM held JOIN held_tally AS tally USING (source) WHERE source = ? ORDER BY id LIMIT ${MAX_COMPARED_HELD}`);
  const expired = database.prepare<unknown[], Pick<HeldSummary, "id" | "bytes">>(
    `SELECT id, ${BODY_BYTES} AS bytes FROM held WHERE source = ? AND received_at < ?`,
  );
  const sources = database.prepare<[], string>("SELECT source FROM held_tally WHERE count > 0 ORDER BY source").pluck();
  const list = database.prepare<unknown[], HeldSummary>(`
    SELECT id, source, reason, media_type AS mediaType, address, received_at AS receivedAt, ${BODY_BYTES} AS bytes
    FROM held WHERE id > @after AND (@source IS NULL OR source = @source) AND received_at >= @since
    ORDER BY id LIMIT @limit`);
  const read = database.prepare<unknown[], HeldDelivery & { id: number }>(`
    SELECT id, source, reason, method, origin, target, headers, media_type AS mediaType, address,
      received_at AS receivedAt, body
    FROM held WHERE id = ?`);
  const sizeOf = database.prepare<unknown[], { source: string; bytes: number }>(
    `SELECT source, ${BODY_BYTES} AS bytes FROM held WHERE id = ?`,
  );
  const remove = database.prepare("DELETE FROM held WHERE id = ?");

  function removeOne(source: string, { id, bytes }: Pick<HeldSummary, "id" | "bytes">): void {
    remove.run(id);
    count.run(source, -1, -bytes);
  }

  function trim(source: string, bounds: HeldBounds, now: number): void {
    for (;;) {
      const rows = oldest.all(source);
      const over = beyondBounds(rows, bounds, now);
      for (const row of over) removeOne(source, row);
      if (over.length < MAX_COMPARED_HELD) return;
    }
  }

  return {
    hold: atomic(database, (batch) => {
      for (const { delivery, bounds } of batch) {
        add.run(sealHeld(codec, delivery));
        count.run(delivery.source, 1, delivery.body.length);
        trim(delivery.source, bounds, delivery.receivedAt);
      }
    }),
    trim: atomic(database, (source, bounds, now) => {
      trim(source, bounds, now);
      // Behind one that came while the clock was ahead.
      for (const row of expired.all(source, now - bounds.forMs)) removeOne(source, row);
    }),
    sources: () => sources.all() as string[],
    list: ({ source = null, since = Number.MIN_SAFE_INTEGER, after = 0, limit }) =>
      list.all({ source, since, after, limit }),
    read(ids) {
      const found: (HeldDelivery & { id: number })[] = [];
      let bytes = 0;
      for (const id of [...ids].sort((one, other) => one - other)) {
        const row = read.get(id);
        if (row === undefined) continue;
        bytes += row.body.length;
        if (found.length > 0 && bytes > MAX_PAYLOAD_BYTES) break;
        found.push(row);
      }
      return openHeld(codec, found);
    },
    remove: atomic(database, (ids) => {
      for (const id of ids) {
        const row = sizeOf.get(id);
        if (row) removeOne(row.source, { id, bytes: row.bytes });
      }
    }),
  };
}
