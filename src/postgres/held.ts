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
import type { Postgres, Queries } from "./connection.ts";
import { bytes, columnsOf, integers, texts } from "./values.ts";

/** Locks the numbers of sources, in order, so that two servers do not wait for each other: sources. */
const LOCK = `
INSERT INTO authserve.held_tally (source, count, bytes) SELECT source, 0, 0
FROM (SELECT DISTINCT unnest($1::text[]) AS source) AS named ORDER BY source
ON CONFLICT (source) DO UPDATE SET count = held_tally.count`;

const ADD = `
WITH given AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[],
    $10::bytea[]) WITH ORDINALITY
    AS given (source, reason, method, origin, target, headers, media_type, address, received_at, body, nth)),
added AS (
  INSERT INTO authserve.held (source, reason, method, origin, target, headers, media_type, address, received_at, body)
  SELECT source, reason, method, origin, target, headers, media_type, address, received_at, body FROM given ORDER BY nth
  RETURNING source, ${BODY_BYTES} AS bytes)
UPDATE authserve.held_tally AS tally SET count = tally.count + new.count, bytes = tally.bytes + new.bytes
FROM (SELECT source, count(*) AS count, sum(bytes) AS bytes FROM added GROUP BY source) AS new WHERE tally.source = new.source`;

const OLDEST = `
SELECT id, received_at AS "receivedAt", ${BODY_BYTES} AS bytes, tally.count AS "allCount", tally.bytes AS "allBytes"
FROM authserve.held JOIN authserve.held_tally AS tally USING (source) WHERE source = $1 ORDER BY id LIMIT ${MAX_COMPARED_HELD}`;

const EXPIRED = `SELECT id FROM authserve.held WHERE source = $1 AND received_at < $2`;

const SOURCES = `SELECT source FROM authserve.held_tally WHERE count > 0 ORDER BY source`;

const REMOVE = `
WITH gone AS (DELETE FROM authserve.held WHERE id = ANY($1::bigint[]) RETURNING source, ${BODY_BYTES} AS size)
UPDATE authserve.held_tally AS tally SET count = tally.count - old.count, bytes = tally.bytes - old.bytes
FROM (SELECT source, count(*) AS count, sum(size) AS bytes FROM gone GROUP BY source) AS old WHERE tally.source = old.source`;

/** After this delivery, source, since, limit. */
const LIST = `
SELECT id, source, reason, media_type AS "mediaType", address, received_at AS "receivedAt", ${BODY_BYTES} AS bytes
FROM authserve.held WHERE id > $1 AND (source = $2 OR $2::text IS NULL) AND received_at >= $3 ORDER BY id LIMIT $4`;

/** The first of these deliveries that fit, at least one: ids, bytes. */
const READ = `
SELECT id, source, reason, method, origin, target, headers, media_type AS "mediaType", address, received_at AS "receivedAt", body
FROM (
  SELECT *, row_number() OVER in_order AS nth, sum(${BODY_BYTES}) OVER in_order AS total
  FROM authserve.held WHERE id = ANY($1::bigint[]) WINDOW in_order AS (ORDER BY id)) AS sized
WHERE nth = 1 OR total <= $2 ORDER BY id`;

/** Keeps refused deliveries in PostgreSQL. */
export function createPostgresHeldStore(postgres: Postgres, codec: PayloadCodec = PLAIN_CODEC): HeldStore {
  async function trim(queries: Queries, source: string, bounds: HeldBounds, now: number): Promise<void> {
    for (;;) {
      const over = beyondBounds(await queries.rows<OldHeld>(OLDEST, [source]), bounds, now);
      await remove(queries, over);
      if (over.length < MAX_COMPARED_HELD) return;
    }
  }

  async function remove(queries: Queries, deliveries: readonly { id: number }[]): Promise<void> {
    if (deliveries.length > 0) await queries.run(REMOVE, [integers(deliveries.map(({ id }) => id))]);
  }

  return {
    hold: (batch) =>
      postgres.transaction(async (queries) => {
        const deliveries = batch.map(({ delivery }) => delivery);
        await queries.run(LOCK, [texts(deliveries.map(({ source }) => source))]);
        const rows = deliveries.map((delivery) => sealHeld(codec, delivery));
        await queries.run(ADD, columnsOf(rows, DELIVERY));
        const bySource = new Map(batch.map(({ delivery, bounds }) => [delivery.source, { delivery, bounds }]));
        for (const [source, { delivery, bounds }] of bySource) await trim(queries, source, bounds, delivery.receivedAt);
      }),
    trim: (source, bounds, now) =>
      postgres.transaction(async (queries) => {
        await queries.run(LOCK, [texts([source])]);
        await trim(queries, source, bounds, now);
        // Behind those that came while the clock was ahead.
        await remove(queries, await queries.rows<{ id: number }>(EXPIRED, [source, Math.round(now - bounds.forMs)]));
      }),
    sources: async () => (await postgres.rows<{ source: string }>(SOURCES)).map(({ source }) => source),
    list: ({ source = null, since = Number.MIN_SAFE_INTEGER, after = 0, limit }) =>
      postgres.rows<HeldSummary>(LIST, [after, source, since, limit]),
    async read(ids) {
      const rows = await postgres.rows<HeldDelivery & { id: number }>(READ, [integers(ids), MAX_PAYLOAD_BYTES]);
      return openHeld(codec, rows);
    },
    remove: async (ids) => void (await postgres.run(REMOVE, [integers(ids)])),
  };
}

const SENT = { source: texts, reason: texts, method: texts, origin: texts, target: texts, headers: texts };
const DELIVERY = { ...SENT, mediaType: texts, address: texts, receivedAt: integers, body: bytes };
