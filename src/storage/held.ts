import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import {
  beyondBounds,
  type HeldBounds,
  type HeldDelivery,
  type HeldStore,
  type HeldSummary,
  MAX_COMPARED_HELD,
  type OldHeld,
} from "../webhook/held/held-store.ts";
import type { PayloadCodec } from "./payload-codec.ts";
import { changed, changedEach, type Query, type QueryPort, rows, summed } from "./query.ts";
import { BODY_BYTES, openHeld, sealHeld } from "./sealed-held.ts";

const ADD = `
INSERT INTO authserve.held (source, reason, method, origin, target, headers, media_type, address, received_at, body)
VALUES ($1::text, $2::text, $3::text, $4::text, $5::text, $6::text, $7::text, $8::text, $9::bigint, $10::bytea)`;

/** Adds to the numbers of sources: source, count, bytes. It locks them until the end of the transaction. */
const COUNT = `
INSERT INTO authserve.held_tally AS known (source, count, bytes) VALUES ($1::text, $2::bigint, $3::bigint)
ON CONFLICT (source) DO UPDATE SET count = known.count + excluded.count, bytes = known.bytes + excluded.bytes`;

const LOCK = "SELECT source FROM authserve.held_tally WHERE source = $1 FOR UPDATE";

const OLDEST = `
SELECT id, received_at AS "receivedAt", ${BODY_BYTES} AS bytes, tally.count AS "allCount", tally.bytes AS "allBytes"
FROM authserve.held JOIN authserve.held_tally AS tally USING (source) WHERE source = $1
ORDER BY id LIMIT ${MAX_COMPARED_HELD}`;

const EXPIRED = "SELECT id FROM authserve.held WHERE source = $1 AND received_at < $2";
const SOURCES = "SELECT source FROM authserve.held_tally WHERE count > 0 ORDER BY source";
const REMOVE = `DELETE FROM authserve.held WHERE id = ANY($1::bigint[]) RETURNING source, ${BODY_BYTES} AS bytes`;

/** After this delivery, source, since, limit. */
const LIST = `
SELECT id, source, reason, media_type AS "mediaType", address, received_at AS "receivedAt", ${BODY_BYTES} AS bytes
FROM authserve.held WHERE id > $1 AND ($2::text IS NULL OR source = $2) AND received_at >= $3 ORDER BY id LIMIT $4`;

/** The first of these deliveries that fit, at least one: ids, bytes. */
const READ = `
SELECT id, source, reason, method, origin, target, headers, media_type AS "mediaType", address,
  received_at AS "receivedAt", body
FROM authserve.held JOIN (
  SELECT id, row_number() OVER (ORDER BY id) AS nth, sum(${BODY_BYTES}) OVER (ORDER BY id) AS total
  FROM authserve.held WHERE id = ANY($1::bigint[])) AS sized USING (id)
WHERE nth = 1 OR total <= $2 ORDER BY id`;

/** Keeps refused deliveries. */
export const heldStore = (codec: PayloadCodec): QueryPort<HeldStore> => ({
  *hold(batch) {
    const deliveries = batch.map(({ delivery }) => delivery);
    yield* changedEach(COUNT, summed(deliveries.map(({ source, body }) => [[source], [1, body.length]])));
    yield* changedEach(
      ADD,
      deliveries.map((delivery) => columnsOf(sealHeld(codec, delivery))),
    );
    const newest = new Map(batch.map((held) => [held.delivery.source, held]));
    for (const [source, { delivery, bounds }] of newest) yield* trim(source, bounds, delivery.receivedAt);
  },
  *trim(source, bounds, now) {
    yield* changed(LOCK, source);
    yield* trim(source, bounds, now);
    // Behind one that came while the clock was ahead.
    yield* remove(yield* rows<{ id: number }>(EXPIRED, source, Math.round(now - bounds.forMs)));
  },
  sources: () => rows<{ source: string }>(SOURCES).as((found) => found.map(({ source }) => source)),
  list: ({ source = null, since = Number.MIN_SAFE_INTEGER, after = 0, limit }) =>
    rows<HeldSummary>(LIST, after, source, since, limit),
  read: (ids) =>
    rows<HeldDelivery & { id: number }>(READ, ids, MAX_PAYLOAD_BYTES).as((found) => openHeld(codec, found)),
  remove: (ids) => remove(ids.map((id) => ({ id }))),
});

const columnsOf = (held: HeldDelivery) => {
  const { source, reason, method, origin, target, headers, mediaType, address, receivedAt, body } = held;
  return [source, reason, method, origin, target, headers, mediaType, address, receivedAt, body];
};

function* trim(source: string, bounds: HeldBounds, now: number): Query<void> {
  for (;;) {
    const over = beyondBounds(yield* rows<OldHeld>(OLDEST, source), bounds, now);
    yield* remove(over);
    if (over.length < MAX_COMPARED_HELD) return;
  }
}

function* remove(deliveries: readonly { id: number }[]): Query<void> {
  if (deliveries.length === 0) return;
  const ids = deliveries.map(({ id }) => id);
  const removed = yield* rows<{ source: string; bytes: number }>(REMOVE, ids);
  yield* changedEach(COUNT, summed(removed.map(({ source, bytes }) => [[source], [-1, -bytes]])));
}
