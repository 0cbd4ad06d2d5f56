import { hash } from "node:crypto";
import { AppError } from "../errors.ts";
import {
  bringsOtherId,
  CONFLICT,
  type Decision,
  DUPLICATE,
  decideTaken,
  digestOf,
  duplicateOf,
  idByBytes,
  isWithin,
  NEW,
  type SameBytes,
  type StoredEvent,
} from "../events/dedupe.ts";
import { numbered } from "../events/free-number.ts";
import type { Appended, NewEvent } from "../events/store.ts";
import { orNull, type PayloadCodec, PLAIN_CODEC, ROW, SEALED } from "../storage/payload-codec.ts";
import { type Postgres, type Queries, sqlState } from "./connection.ts";
import type { EventTally } from "./event-tally.ts";
import { freeNumberOf } from "./free-number-of.ts";
import { addRepeats, countDeliveries, type NewRepeat } from "./repeats.ts";
import { minuteInSql } from "./stats.ts";
import { bytes, columnsOf, integers, texts } from "./values.ts";

/**
 * Adds the events that are not known yet, with their contents: a column each. Numbers are given in order of arrival.
 * Rows are added in order of identity: two batches in opposite order would wait for each other. Returns the indexes of
 * the added events.
 */
const APPEND = `
WITH input AS MATERIALIZED (
  SELECT nextval('authserve.events_id_seq') AS id, given.*
  FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[], $7::text[], $8::text[], $9::text[],
    $10::text[], $11::bytea[]) WITH ORDINALITY
    AS given (source, event_id, type, received_at, size, bytes_sha256, secret, address, headers, content_type, payload, nth)),
added AS (
  INSERT INTO authserve.events (id, source, event_id, type, received_at, size, bytes_sha256)
  SELECT id, source, event_id, type, received_at, size, bytes_sha256 FROM input ORDER BY source, event_id
  ON CONFLICT DO NOTHING RETURNING id, source, received_at, size),
stored AS (
  INSERT INTO authserve.contents (event, secret, address, headers, content_type, payload)
  SELECT added.id, secret, address, headers, content_type, payload FROM added JOIN input USING (id)),
queued AS (INSERT INTO authserve.unrouted (event) SELECT id FROM added),
counted AS (
  INSERT INTO authserve.tally (queued, queued_bytes, ids)
  SELECT count(*), sum(size), count(*) FROM added HAVING count(*) > 0),
stats AS (
  INSERT INTO authserve.stats_added (at, outcome, slot, source, route, count)
  SELECT ${minuteInSql("received_at")}, 'received', 0, source, '', count(*) FROM added GROUP BY 1, source)
SELECT nth - 1 AS index FROM added JOIN input USING (id)`;

/**
 * The events with these identities: sources, event ids. A statement after that of the append: in one statement, rows
 * that another server commits meanwhile are not seen. The digest of the payload is null once it is removed or erased.
 */
const STORED = `
SELECT id, source, event_id AS "eventId", encode(bytes_sha256, 'hex') AS "bytesSha256",
  CASE WHEN erased_at IS NULL THEN encode(sha256(payload), 'hex') END AS "payloadSha256",
  headers, CASE WHEN headers LIKE '${SEALED}' AND erased_at IS NULL THEN payload END AS sealed
FROM unnest($1::text[], $2::text[]) AS named (source, event_id) JOIN authserve.events USING (source, event_id)
  LEFT JOIN authserve.contents ON contents.event = id LEFT JOIN authserve.erasures ON erasures.event = id`;

/** The events with these bytes and an unsigned id: sources, digests. */
const STORED_BYTES = `
SELECT id, source, encode(bytes_sha256, 'hex') AS "bytesSha256", event_id AS "eventId", received_at AS "receivedAt"
FROM unnest($1::text[], $2::bytea[]) AS named (source, bytes_sha256) JOIN authserve.events USING (source, bytes_sha256)
WHERE bytes_sha256 IS NOT NULL`;

const SAME_BYTES = `
SELECT id, event_id AS "eventId", received_at AS "receivedAt"
FROM authserve.events WHERE bytes_sha256 = $1 AND source = $2 AND bytes_sha256 IS NOT NULL`;

/** Gives the digest of an event to a later one with the same bytes: event. */
const FORGET_BYTES = `UPDATE authserve.events SET bytes_sha256 = NULL WHERE id = $1`;

/** Stores other bytes under known identities once, and counts their deliveries: a column each. */
const ADD_CONFLICTS = `
WITH input AS MATERIALIZED (
  SELECT * FROM unnest($1::bigint[], $2::bytea[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
    $9::bigint[], $10::bigint[], $11::bytea[])
    AS given (event, payload_sha256, type, secret, address, headers, content_type, first_at, last_at, deliveries, payload)),
added AS (
  INSERT INTO authserve.conflicts (event, payload_sha256, type, secret, address, headers, content_type, first_at, last_at,
    deliveries, payload)
  SELECT event, payload_sha256, type, secret, address, headers, content_type, first_at, last_at, deliveries, payload
  FROM input WHERE NOT EXISTS (SELECT 1 FROM authserve.erasures WHERE erasures.event = input.event)
  ORDER BY event, payload_sha256
  ON CONFLICT (event, payload_sha256) DO UPDATE SET deliveries = conflicts.deliveries + excluded.deliveries,
    last_at = greatest(conflicts.last_at, excluded.last_at))
INSERT INTO authserve.tally (conflicts) SELECT sum(deliveries) FROM input`;

/** SQLSTATE classes of values that cannot be stored: data exceptions, and rows of an index that are too large. */
const POISON = /^(?:22|54)/;

/** Stores batches of deliveries. */
export function eventAppend(
  postgres: Postgres,
  tally: EventTally,
  codec: PayloadCodec,
): (batch: NewEvent[]) => Promise<Appended[]> {
  const add = addNew(postgres, codec);
  const resolveKnown = knownEvents(postgres, add, codec);
  const appendWithin = eventsWithin(postgres, add, codec);

  async function appendByIdentity(batch: readonly NewEvent[]): Promise<Appended[]> {
    if (batch.length === 0) return [];
    const isNew = await add(batch);
    const known = batch.filter((_, index) => !isNew[index]);
    const resolved = known.length === 0 ? [] : await resolveKnown(known);
    return isNew.map((isAdded) => (isAdded ? NEW : (resolved.shift() ?? DUPLICATE)));
  }

  async function append(batch: readonly NewEvent[]): Promise<Appended[]> {
    const byIdentity = await appendByIdentity(batch.filter(({ sameWithinMs }) => sameWithinMs === null));
    const results: Appended[] = [];
    for (const event of batch) {
      const { sameWithinMs } = event;
      results.push(sameWithinMs === null ? (byIdentity.shift() ?? DUPLICATE) : await appendWithin(event, sameWithinMs));
    }
    tally.note();
    return results;
  }

  async function appendAlone(event: NewEvent): Promise<Appended[]> {
    try {
      return await append([event]);
    } catch (error) {
      if (!isPoison(error)) throw error;
      return [notStorable(error)];
    }
  }

  return async (batch) => {
    try {
      return await append(batch);
    } catch (error) {
      if (!isPoison(error)) throw error;
    }
    // One value fails the whole statement. It must not fail the other deliveries.
    const results: Appended[] = [];
    for (const event of batch) results.push(...(await appendAlone(event)));
    return results;
  };
}

const isPoison = (error: unknown) => POISON.test(sqlState(error) ?? "");

function notStorable(cause: unknown): Appended {
  const error = new AppError("invalid_payload", { errors: [{ path: "", message: "cannot be stored" }], cause });
  return { ...NEW, error };
}

/**
 * Adds events. For each it tells whether it was added: it was not known, and the first of its identity in the batch.
 */
type AddNew = (batch: readonly NewEvent[]) => Promise<boolean[]>;

/** Adds events through a connection. */
export function addNew(postgres: Queries, codec: PayloadCodec = PLAIN_CODEC): AddNew {
  return async (batch) => {
    const names = new Set<string>();
    const first = [...batch.entries()].filter(([, event]) => {
      const own = namesOf(event);
      const isFirst = own.every((name) => !names.has(name));
      // What is not added takes no name: another event may have the id of a duplicate by its bytes.
      if (isFirst) for (const name of own) names.add(name);
      return isFirst;
    });
    const rows = await postgres.rows<{ index: number }>(
      APPEND,
      columnsOfEvents(
        first.map(([, event]) => event),
        codec,
      ),
    );
    const isNew = batch.map(() => false);
    for (const { index } of rows) isNew[first[index]?.[0] as number] = true;
    return isNew;
  };
}

/** What an event is known by: its id, and its bytes if the id is unsigned. */
function namesOf({ source, eventId, bytesSha256 }: NewEvent): string[] {
  const name = `${source} ${eventId}`;
  return bytesSha256 === null ? [name] : [name, `${source} sha256 ${bytesSha256}`];
}

function columnsOfEvents(events: readonly NewEvent[], codec: PayloadCodec): Buffer[] {
  const rows = events.map((event) => sealed(codec, ROW.contents(event.source, event.eventId), event));
  const digests = events.map(({ bytesSha256 }) => (bytesSha256 === null ? null : Buffer.from(bytesSha256, "hex")));
  return [
    ...columnsOf(events, { source: texts, eventId: texts, type: texts, receivedAt: integers }),
    integers(events.map(({ payload, headers }) => payload.length + Buffer.byteLength(headers))),
    bytes(digests),
    ...columnsOf(rows, { secret: texts, address: texts, headers: texts, contentType: texts, payload: bytes }),
  ];
}

/** An event as its row has it. */
function sealed(
  codec: PayloadCodec,
  row: ReturnType<(typeof ROW)["contents" | "conflict"]>,
  event: NewEvent,
): NewEvent {
  const { text: headers, bytes: payload } = codec.seal(row, { text: event.headers, bytes: event.payload });
  return { ...event, headers, payload };
}

/** Stores an event of a source in which only the same bytes within a time are a duplicate. */
function eventsWithin(
  postgres: Postgres,
  add: AddNew,
  codec: PayloadCodec,
): (event: NewEvent, sameWithinMs: number) => Promise<Appended> {
  async function findSame({ bytesSha256, source }: NewEvent): Promise<SameBytes | undefined> {
    if (bytesSha256 === null) return undefined;
    const [same] = await postgres.rows<SameBytes>(SAME_BYTES, [Buffer.from(bytesSha256, "hex"), source]);
    return same;
  }

  return async (event, sameWithinMs) => {
    // Another server may take the same id, or store the same bytes, between two statements.
    for (let { eventId } = event; ; eventId = numbered(event.eventId, await freeNumberOf(postgres, event))) {
      const same = await findSame(event);
      if (same && isWithin(event, same, sameWithinMs)) {
        const repeats = await addRepeats(postgres, codec, repeatOf(event, same));
        return duplicateOf(event, same.eventId, repeats.has(event));
      }
      if (same) await postgres.run(FORGET_BYTES, [same.id]);
      const [isNew] = await add([{ ...event, eventId }]);
      if (isNew) return eventId === event.eventId ? NEW : { ...NEW, eventId };
    }
  };
}

interface StoredRow extends Pick<StoredEvent, "id" | "bytesSha256"> {
  source: string;
  eventId: string;
  /** Null once it is removed or erased. */
  payloadSha256: string | null;
  headers: string | null;
  /** The payload if it is encrypted. */
  sealed: Buffer | null;
}

type BytesRow = SameBytes & { source: string; bytesSha256: string };

/** What is kept of a duplicate by its bytes: nothing, or a repeat. */
function repeatOf(delivery: NewEvent, { id, eventId }: SameBytes): NewRepeat[] {
  return bringsOtherId(delivery, eventId) ? [{ stored: id, delivery }] : [];
}

function knownEvents(
  postgres: Postgres,
  add: AddNew,
  codec: PayloadCodec,
): (events: readonly NewEvent[]) => Promise<Appended[]> {
  async function readStored(events: readonly NewEvent[]): Promise<(event: NewEvent) => StoredEvent | undefined> {
    const names = columnsOf(events, { source: texts, eventId: texts });
    const rows = await postgres.rows<StoredRow>(STORED, names);
    const byName = new Map(rows.map((row) => [`${row.source} ${row.eventId}`, row]));
    return (event) => {
      const row = byName.get(`${event.source} ${event.eventId}`);
      const digest = row ? payloadDigestOf(codec, row) : null;
      return row && { ...row, hasSameBytes: digest === null ? null : digest === digestOf(event) };
    };
  }

  /** The events that have the bytes of these. */
  async function readByBytes(events: readonly NewEvent[]): Promise<(event: NewEvent) => SameBytes | undefined> {
    const unsigned = events.filter(({ bytesSha256 }) => bytesSha256 !== null);
    if (unsigned.length === 0) return () => undefined;
    const digests = unsigned.map(({ bytesSha256 }) => Buffer.from(bytesSha256 ?? "", "hex"));
    const names = [texts(unsigned.map(({ source }) => source)), bytes(digests)];
    const rows = await postgres.rows<BytesRow>(STORED_BYTES, names);
    const byBytes = new Map(rows.map((row) => [`${row.source} ${row.bytesSha256}`, row]));
    return ({ source, bytesSha256 }) => byBytes.get(`${source} ${bytesSha256}`);
  }

  /** Stores events under their digests, because other bytes have their ids. */
  async function addByBytes(events: readonly NewEvent[]): Promise<Appended[]> {
    const renamed = events.map((event) => ({ ...event, eventId: idByBytes(event) }));
    const isNew = await add(renamed);
    return renamed.map(({ eventId }, index) => ({ ...(isNew[index] ? NEW : DUPLICATE), eventId }));
  }

  return async (events) => {
    const [storedOf, sameOf] = [await readStored(events), await readByBytes(events)];
    const decided = events.map((event) => ({ event, decision: decideTaken(event, storedOf(event), sameOf(event)) }));
    await addConflicts(postgres, codec, decided);
    const repeats = await addRepeats(
      postgres,
      codec,
      decided.flatMap(({ event, decision }) =>
        decision.is === "duplicate" && decision.of ? repeatOf(event, decision.of) : [],
      ),
    );
    const newBytes = decided.filter(({ decision }) => decision.is === "new bytes").map(({ event }) => event);
    const added = newBytes.length === 0 ? [] : await addByBytes(newBytes);
    return decided.map(({ event, decision }) => {
      if (decision.is === "new bytes") return added.shift() ?? DUPLICATE;
      if (decision.is === "conflict") return CONFLICT;
      return decision.of ? duplicateOf(event, decision.of.eventId, repeats.has(event)) : DUPLICATE;
    });
  };
}

/** The digest of a stored payload. Null once retention has removed it, and without its key. */
function payloadDigestOf(codec: PayloadCodec, { source, eventId, payloadSha256, headers, sealed: bytes }: StoredRow) {
  if (headers === null || bytes === null) return payloadSha256;
  const content = orNull(() => codec.open(ROW.contents(source, eventId), { text: headers, bytes }));
  return content && hash("sha256", content.bytes);
}

async function addConflicts(
  postgres: Postgres,
  codec: PayloadCodec,
  decided: readonly { event: NewEvent; decision: Decision }[],
): Promise<void> {
  const conflicts = decided.flatMap(({ event, decision }) =>
    decision.is === "conflict" ? [{ with: decision.with, delivery: event, digest: digestOf(event) }] : [],
  );
  const all = countDeliveries(conflicts, (row) => `${row.with} ${row.digest}`);
  if (all.length === 0) return;
  const rows = all.map(({ delivery, digest, ...row }) => ({
    ...sealed(codec, ROW.conflict(row.with, digest), delivery),
    ...row,
    digest: Buffer.from(digest, "hex"),
  }));
  const sent = { type: texts, secret: texts, address: texts, headers: texts, contentType: texts, receivedAt: integers };
  const counted = { lastAt: integers, deliveries: integers, payload: bytes };
  await postgres.run(ADD_CONFLICTS, columnsOf(rows, { with: integers, digest: bytes, ...sent, ...counted }));
}
