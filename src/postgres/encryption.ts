import type { EncryptionStore, ResealedPage, ResealRequest } from "../events/encryption.ts";
import { MAX_PAYLOAD_BYTES } from "../events/limits.ts";
import { IS_SEALED_SQL, KEY_IN_SQL, markOf, type PayloadCodec } from "../storage/payload-codec.ts";
import {
  columnsOfSealed,
  KEY_NOTE,
  neededKeys,
  resealRows,
  SEALED_TABLES,
  type SealedRow,
  type SealedTable,
} from "../storage/sealed-tables.ts";
import { type Postgres, type Queries, WHOLE_TABLE_MS } from "./connection.ts";
import { texts } from "./values.ts";

const NOTE = `INSERT INTO authserve.metadata (key, value) VALUES ($1, $2) ON CONFLICT DO NOTHING`;
const NOTED = `SELECT key FROM authserve.metadata WHERE key LIKE '${KEY_NOTE}%'`;
const FORGET = `DELETE FROM authserve.metadata WHERE key = ANY($1::text[])`;

/** Notes the key that encrypts, so that a later start without it knows what is missing. */
export async function noteKey(
  queries: Pick<Queries, "run">,
  { keyId }: Pick<PayloadCodec, "keyId">,
  now: number,
): Promise<void> {
  if (keyId !== null) await queries.run(NOTE, [KEY_NOTE + keyId, String(now)]);
}

async function notedKeys(queries: Queries): Promise<string[]> {
  return (await queries.rows<{ key: string }>(NOTED)).map(({ key }) => key.slice(KEY_NOTE.length));
}

/** Encrypts what is stored in PostgreSQL. */
export function createPostgresEncryption(postgres: Postgres, codec: PayloadCodec): EncryptionStore {
  return {
    tables: SEALED_TABLES.map(({ name }) => name),
    missingKeys: async () => (await notedKeys(postgres)).filter((id) => !codec.keyIds.includes(id)),
    isFirstKeyNoted: async () => codec.keyId !== null && (await notedKeys(postgres)).includes(codec.keyId),
    // Once most rows are encrypted, the next one that is not may be millions of rows away.
    reseal: (request) =>
      postgres.transaction((queries) => reseal(queries, codec, request), { timeoutMs: WHOLE_TABLE_MS }),
    async forgetKeys() {
      const counts: KeyCount[] = [];
      for (const table of SEALED_TABLES) {
        const count = (queries: Queries) => queries.rows<KeyCount>(countOf(table));
        counts.push(...(await postgres.transaction(count, { timeoutMs: WHOLE_TABLE_MS })));
      }
      const { inUse, missing } = neededKeys(codec, counts);
      const unused = (await notedKeys(postgres)).filter((id) => !inUse.has(id));
      await postgres.run(FORGET, [texts(unused.map((id) => KEY_NOTE + id))]);
      return missing;
    },
    // PostgreSQL's own VACUUM removes earlier versions of rows.
    clean: async () => true,
  };
}

interface KeyCount {
  id: string;
  rows: number;
}

/** The rows of a table that each key has encrypted. */
const countOf = ({ name, text }: SealedTable) => `
SELECT ${KEY_IN_SQL(text)} AS id, count(*)::int AS rows FROM authserve.${name} WHERE ${IS_SEALED_SQL(text)} GROUP BY 1`;

async function reseal(
  queries: Queries,
  codec: PayloadCodec,
  { table: name, from, limit }: ResealRequest,
): Promise<ResealedPage> {
  const table = SEALED_TABLES.find((one) => one.name === name);
  if (!table || codec.keyId === null) return { changed: 0, unreadable: 0, next: null };
  await noteKey(queries, codec, Date.now());
  const rows = await queries.rows<SealedRow>(selectOf(table), [
    from,
    markOf(codec.keyId),
    texts(codec.keyIds.filter((id) => id !== codec.keyId)),
    limit,
    MAX_PAYLOAD_BYTES,
  ]);
  const { resealed, page } = resealRows(table, codec, rows);
  for (const { row, sealed } of resealed) await update(queries, table, row, sealed);
  return page;
}

/**
 * The next rows that are plain, or encrypted with another key that is there, as many as fit: from, mark, other keys,
 * limit, bytes. They are locked.
 */
function selectOf(table: SealedTable): string {
  const { name, id, key, text, bytes } = table;
  const order = [id, ...key].join(", ");
  const size = bytes ? `length(${bytes})` : "0";
  return `
WITH chosen AS (
  SELECT ${order}, sum(${size}) OVER (ORDER BY ${order}) AS total, row_number() OVER (ORDER BY ${order}) AS nth
  FROM (
    SELECT ${order}${bytes ? `, ${bytes}` : ""} FROM authserve.${name}
    WHERE ${id} >= $1 AND ${text} IS NOT NULL AND left(${text}, ${markOf("").length + 16}) <> $2
      AND (NOT ${IS_SEALED_SQL(text)} OR ${KEY_IN_SQL(text)} = ANY($3::text[]))
    ORDER BY ${order} LIMIT $4) AS first)
SELECT ${columnsOfSealed(table, "authserve.events")} FROM authserve.${name}
WHERE (${order}) IN (SELECT ${order} FROM chosen WHERE nth = 1 OR total <= $5)
ORDER BY ${order} FOR UPDATE`;
}

async function update(
  queries: Queries,
  { name, id, key, text, bytes }: SealedTable,
  row: SealedRow,
  sealed: ReturnType<SealedTable["reseal"]>,
): Promise<void> {
  const values: unknown[] = [sealed.text];
  const set = [`${text} = $1`];
  if (bytes) set.push(`${bytes} = $${values.push(sealed.bytes)}`);
  if (name === "held") set.push(`target = $${values.push(sealed.target)}`);
  const where = [id, ...key].map((column) => `${column} = $${values.push(column === id ? row.id : row[column])}`);
  await queries.run(`UPDATE authserve.${name} SET ${set.join(", ")} WHERE ${where.join(" AND ")}`, values);
}
