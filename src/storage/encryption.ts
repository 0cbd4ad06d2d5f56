import type { EncryptionStore, ResealedPage, ResealRequest } from "../events/encryption.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import { IS_SEALED_SQL, KEY_IN_SQL, markOf, type PayloadCodec, UnsealableError } from "./payload-codec.ts";
import { changed, type Query, type QueryPort, rows } from "./query.ts";
import { SEALED_TABLES, type SealedRow, type SealedTable } from "./sealed-tables.ts";

/** The name under which the store notes a key. */
const KEY_NOTE = "encryption_key:";

/** Notes a key that encrypts, so that a later start without it knows what is missing. */
export const keyNote = (keyId: string, now: number) =>
  changed(
    "INSERT INTO authserve.metadata (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING",
    KEY_NOTE + keyId,
    String(now),
  );

/** The keys that were noted. */
export const notedKeys = rows<{ key: string }>(`SELECT key FROM authserve.metadata WHERE key LIKE '${KEY_NOTE}%'`).as(
  (found) => found.map(({ key }) => key.slice(KEY_NOTE.length)),
);

/** The names of the tables that are encrypted. */
export const SEALED_NAMES = SEALED_TABLES.map(({ name }) => name);

type Sealed = ReturnType<SealedTable["reseal"]>;

/** Encrypts what is stored. `checksum` is of the store that keeps one beside the bytes. */
export function sealedStore(
  codec: PayloadCodec,
  checksum?: (bytes: Uint8Array) => number,
): QueryPort<Omit<EncryptionStore, "tables" | "clean">> {
  return {
    missingKeys: () => notedKeys.as((noted) => noted.filter((id) => !codec.keyIds.includes(id))),
    isFirstKeyNoted: () => notedKeys.as((noted) => codec.keyId !== null && noted.includes(codec.keyId)),
    *reseal({ table: name, from, limit }: ResealRequest): Query<ResealedPage> {
      const table = SEALED_TABLES.find((one) => one.name === name);
      const { keyId } = codec;
      if (!table || keyId === null) return { changed: 0, unreadable: 0, next: null };
      yield* keyNote(keyId, Date.now());
      const others = codec.keyIds.filter((id) => id !== keyId);
      const found = yield* rows<SealedRow>(selectOf(table), from, markOf(keyId), others, limit, MAX_PAYLOAD_BYTES);
      const resealed = found.flatMap((row) => resealedRow(table, codec, row) ?? []);
      for (const { row, sealed } of resealed) yield* update(table, row, sealed, checksum);
      const last = found.at(-1)?.place ?? null;
      // Several rows may have the place of the last one. Those that no key opens would come again.
      const next = last !== null && resealed.length === 0 ? last + 1 : last;
      return { changed: resealed.length, unreadable: found.length - resealed.length, next };
    },
    *forgetKeys() {
      const inUse = new Set(codec.keyId === null ? [] : [codec.keyId]);
      const missing: Record<string, number> = {};
      for (const table of SEALED_TABLES) {
        for (const { id, count } of yield* rows<{ id: string; count: number }>(countOf(table))) {
          inUse.add(id);
          if (!codec.keyIds.includes(id)) missing[id] = (missing[id] ?? 0) + count;
        }
      }
      const unused = (yield* notedKeys).filter((id) => !inUse.has(id));
      yield* changed(
        "DELETE FROM authserve.metadata WHERE key = ANY($1::text[])",
        unused.map((id) => KEY_NOTE + id),
      );
      return missing;
    },
  };
}

/** The rows of a table that each key has encrypted. */
const countOf = ({ name, text }: SealedTable) => `
SELECT ${KEY_IN_SQL(text)} AS id, count(*) AS count FROM authserve.${name} WHERE ${IS_SEALED_SQL(text)} GROUP BY 1`;

/**
 * The next rows that are plain, or encrypted with another key that is there, as many as fit: from, mark, other keys,
 * limit, bytes. They are locked.
 */
function selectOf({ name, place, key, text, bytes, named = {} }: SealedTable): string {
  const order = [place, ...key].join(", ");
  const size = bytes ? `length(${bytes})` : "0";
  const others = Object.entries(named).map(([member, value]) => `${value} AS "${member}"`);
  const columns = [`${place} AS place`, ...key, `${text} AS text`, `${bytes ?? "NULL"} AS bytes`, ...others];
  return `
WITH chosen AS (
  SELECT ${order}, sum(size) OVER (ORDER BY ${order}) AS total, row_number() OVER (ORDER BY ${order}) AS nth
  FROM (
    SELECT ${order}, ${size} AS size FROM authserve.${name}
    WHERE ${place} >= $1 AND ${text} IS NOT NULL AND substr(${text}, 1, ${markOf("").length + 16}) <> $2
      AND (NOT ${IS_SEALED_SQL(text)} OR ${KEY_IN_SQL(text)} = ANY($3::text[]))
    ORDER BY ${order} LIMIT $4) AS first)
SELECT ${columns.join(", ")} FROM authserve.${name}
WHERE (${order}) IN (SELECT ${order} FROM chosen WHERE nth = 1 OR total <= $5)
ORDER BY ${order} FOR UPDATE`;
}

/** A row with its columns encrypted anew; null if no key opens it. */
function resealedRow(
  table: SealedTable,
  codec: PayloadCodec,
  row: SealedRow,
): { row: SealedRow; sealed: Sealed } | null {
  try {
    return { row, sealed: table.reseal(codec, row) };
  } catch (error) {
    if (error instanceof UnsealableError) return null;
    throw error;
  }
}

function update(
  { name, place, key, text, bytes, hasChecksum }: SealedTable,
  row: SealedRow,
  sealed: Sealed,
  checksum: ((bytes: Uint8Array) => number) | undefined,
) {
  const values: unknown[] = [sealed.text];
  const set = [`${text} = $1`];
  if (bytes) set.push(`${bytes} = $${values.push(sealed.bytes)}`);
  if (checksum && hasChecksum && sealed.bytes) set.push(`payload_crc32 = $${values.push(checksum(sealed.bytes))}`);
  if (name === "held") set.push(`target = $${values.push(sealed.target)}`);
  const where = [place, ...key].map(
    (column) => `${column} = $${values.push(column === place ? row.place : row[column])}`,
  );
  return changed(`UPDATE authserve.${name} SET ${set.join(", ")} WHERE ${where.join(" AND ")}`, ...values);
}
