import { MAX_REPEATS } from "../events/dedupe.ts";
import { numbered } from "../events/free-number.ts";
import type { EventName, NewEvent } from "../events/store.ts";
import { type PayloadCodec, ROW } from "../storage/payload-codec.ts";
import type { Postgres, Queries } from "./connection.ts";
import { freeNumberOf } from "./free-number-of.ts";
import { LOCK_CONTENTS } from "./job-rows.ts";
import { addKept, type KeptEvent } from "./kept-events.ts";
import { columnsOf, integers, texts } from "./values.ts";

/**
 * Counts the deliveries of repeats that are kept, and adds the others of events that are not removed or erased. Returns
 * the indexes of these.
 */
const ADD_REPEATS = `
WITH input AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
    $9::bigint[], $10::bigint[]) WITH ORDINALITY
    AS given (event, event_id, type, secret, address, headers, content_type, first_at, last_at, deliveries, nth)),
known AS (
  UPDATE authserve.repeats SET deliveries = repeats.deliveries + input.deliveries,
    last_at = greatest(repeats.last_at, input.last_at)
  FROM input WHERE repeats.event = input.event AND repeats.event_id = input.event_id),
added AS (
  INSERT INTO authserve.repeats (event, number, event_id, type, secret, address, headers, content_type, first_at, last_at,
    deliveries)
  SELECT event, coalesce((SELECT max(number) FROM authserve.repeats WHERE repeats.event = input.event), 0)
      + row_number() OVER (PARTITION BY event ORDER BY nth),
    event_id, type, input.secret, input.address, input.headers, input.content_type, first_at, last_at, deliveries
  FROM input JOIN authserve.contents USING (event)
  WHERE NOT EXISTS (SELECT FROM authserve.erasures WHERE erasures.event = input.event)
    AND NOT EXISTS (SELECT FROM authserve.repeats WHERE repeats.event = input.event AND repeats.event_id = input.event_id)
  RETURNING event, event_id)
SELECT nth - 1 AS index FROM added JOIN input USING (event, event_id)`;

/** Removes the oldest repeats of events beyond a number: events, number. */
const DROP_REPEATS = `
DELETE FROM authserve.repeats WHERE event = ANY($1::bigint[])
  AND number <= (SELECT max(number) FROM authserve.repeats AS newest WHERE newest.event = repeats.event) - $2`;

/** The number of an event, and of a repeat of it: event id, source, id of the repeat. */
const FIND_REPEAT = `
SELECT event, number FROM authserve.repeats JOIN authserve.events ON id = event
WHERE events.event_id = $1 AND source = $2 AND repeats.event_id = $3`;

/** A repeat, with the content of its event; no row if it is removed: event, number. */
const READ_REPEAT = `
SELECT replayed_as IS NOT NULL AS "isReplayed", repeats.type, repeats.secret, repeats.address, repeats.headers,
  repeats.content_type AS "contentType", contents.headers AS "ownHeaders", payload
FROM authserve.repeats JOIN authserve.contents USING (event) WHERE event = $1 AND number = $2`;

/** A repeat is an event of its own: event, number, id of that event. */
const REPEAT_REPLAYED = `UPDATE authserve.repeats SET replayed_as = $3 WHERE event = $1 AND number = $2`;

/** A duplicate that brought another id, and the stored event with its bytes. */
export interface NewRepeat {
  stored: number;
  delivery: NewEvent;
}

/** Deliveries that are stored as one row: the first one, their number and their newest time. */
type Counted<One> = One & { lastAt: number; deliveries: number };

/** Makes one row of the deliveries that have the same name. */
export function countDeliveries<One extends { delivery: NewEvent }>(
  all: readonly One[],
  nameOf: (one: One) => string,
): Counted<One>[] {
  return [...Map.groupBy(all, nameOf).values()].map((same) => ({
    ...(same[0] as One),
    lastAt: Math.max(...same.map(({ delivery }) => delivery.receivedAt)),
    deliveries: same.length,
  }));
}

/** Keeps repeats. Returns the deliveries whose repeats were not kept before. */
export async function addRepeats(
  postgres: Postgres,
  codec: PayloadCodec,
  repeats: readonly NewRepeat[],
): Promise<Set<NewEvent>> {
  const all = countDeliveries(repeats, ({ stored, delivery }) => `${stored} ${delivery.eventId}`);
  if (all.length === 0) return new Set();
  const events = integers(all.map(({ stored }) => stored));
  const rows = all.map(({ delivery, ...counted }) => ({
    ...delivery,
    ...counted,
    headers: codec.sealText(ROW.repeat(counted.stored, delivery.eventId), delivery.headers),
  }));
  const added = await postgres.transaction(async (queries) => {
    void queries.run(LOCK_CONTENTS, [events]);
    const found = await queries.rows<{ index: number }>(ADD_REPEATS, [events, ...columnsOf(rows, REPEAT)]);
    if (found.length > 0) void queries.run(DROP_REPEATS, [events, MAX_REPEATS]);
    return found;
  });
  return new Set(added.flatMap(({ index }) => all[index]?.delivery ?? []));
}

const SENT = { eventId: texts, type: texts, secret: texts, address: texts, headers: texts, contentType: texts };
const REPEAT = { ...SENT, receivedAt: integers, lastAt: integers, deliveries: integers };

/**
 * Stores a repeat as an event of its own. Returns its id; null if there is no such repeat or it is an event already.
 */
export function replayRepeat(
  postgres: Postgres,
  codec: PayloadCodec,
  { eventId, source }: EventName,
  repeat: string,
  now: number,
): Promise<string | null> {
  return postgres.transaction(async (queries) => {
    const [found] = await queries.rows<{ event: number; number: number }>(FIND_REPEAT, [eventId, source, repeat]);
    if (!found) return null;
    void queries.run(LOCK_CONTENTS, [integers([found.event])]);
    const key = [found.event, found.number];
    const [row] = await queries.rows<RepeatRow>(READ_REPEAT, key);
    if (!row || row.isReplayed) return null;
    const { headers, ownHeaders: text, payload: bytes } = row;
    const content = {
      text: codec.openText(ROW.repeat(found.event, repeat), headers),
      bytes: codec.open(ROW.contents(source, eventId), { text, bytes }).bytes,
    };
    const newId = await addEvent(queries, codec, { ...row, name: { eventId: repeat, source }, content, now });
    void queries.run(REPEAT_REPLAYED, [...key, newId]);
    return newId;
  });
}

interface RepeatRow extends Omit<KeptEvent, "name" | "content" | "now"> {
  isReplayed: boolean;
  headers: string;
  ownHeaders: string;
  payload: Uint8Array;
}

/** Adds the event of a repeat, with a number behind its id if that is taken. Returns the id. */
async function addEvent(queries: Queries, codec: PayloadCodec, { name, ...kept }: KeptEvent): Promise<string> {
  // Another server may take the same id between two statements.
  for (let { eventId } = name; ; eventId = numbered(name.eventId, await freeNumberOf(queries, name)))
    if (await addKept(queries, codec, { ...kept, name: { ...name, eventId } })) return eventId;
}
