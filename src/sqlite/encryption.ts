import { crc32 } from "node:zlib";
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
import { asAsync, type SyncPort } from "./async-store.ts";
import { AlreadyServedError, lockDataDir } from "./data-dir.ts";
import { atomic, type Database } from "./database.ts";

type SqliteEncryption = SyncPort<Omit<EncryptionStore, "tables">>;

/** Notes the key that encrypts, so that a later start without it knows what is missing. */
export function noteKey(database: Database, { keyId }: PayloadCodec, now: number): void {
  if (keyId === null) return;
  database
    .prepare("INSERT INTO metadata (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING")
    .run(KEY_NOTE + keyId, String(now));
}

/** The keys that were noted. */
export function notedKeys(database: Database): string[] {
  const noted = database.prepare<[], string>(`SELECT key FROM metadata WHERE key GLOB '${KEY_NOTE}*'`).pluck().all();
  return noted.map((key) => key.slice(KEY_NOTE.length));
}

/** The store of encryption on a database of a data directory. */
export const encryptionStore = (database: Database, codec: PayloadCodec, dataDir: string): EncryptionStore => ({
  ...asAsync<Omit<EncryptionStore, "tables">>(sqliteEncryption(database, codec, dataDir)),
  tables: SEALED_TABLES.map(({ name }) => name),
});

/** Encrypts what is stored in the database of a data directory. */
function sqliteEncryption(database: Database, codec: PayloadCodec, dataDir: string): SqliteEncryption {
  const others = codec.keyIds.filter((id) => id !== codec.keyId);

  const reseal = atomic(database, ({ table: name, from, limit }: ResealRequest): ResealedPage => {
    const table = SEALED_TABLES.find((one) => one.name === name);
    if (!table || codec.keyId === null) return { changed: 0, unreadable: 0, next: null };
    noteKey(database, codec, Date.now());
    const rows = rowsOf(database, table, { mark: markOf(codec.keyId), others, from, limit });
    const update = updateOf(database, table);
    const { resealed, page } = resealRows(table, codec, rows);
    for (const { row, sealed } of resealed) update(row, sealed);
    return page;
  });

  const forgetKeys = atomic(database, (): Record<string, number> => {
    const counts = SEALED_TABLES.flatMap(({ name, text }) =>
      database
        .prepare<[], { id: string; rows: number }>(`
          SELECT ${KEY_IN_SQL(text)} AS id, count(*) AS rows FROM ${name} WHERE ${IS_SEALED_SQL(text)} GROUP BY 1`)
        .all(),
    );
    const { inUse, missing } = neededKeys(codec, counts);
    const forget = database.prepare("DELETE FROM metadata WHERE key = ?");
    for (const id of notedKeys(database)) if (!inUse.has(id)) forget.run(KEY_NOTE + id);
    return missing;
  });

  return {
    missingKeys: () => notedKeys(database).filter((id) => !codec.keyIds.includes(id)),
    isFirstKeyNoted: () => codec.keyId !== null && notedKeys(database).includes(codec.keyId),
    reseal,
    forgetKeys,
    clean() {
      const unlock = lockIfFree(dataDir);
      if (unlock === null) {
        database.pragma("incremental_vacuum");
        database.pragma("wal_checkpoint(TRUNCATE)");
        return false;
      }
      try {
        // Pages keep what was removed from them before `secure_delete` was on.
        database.exec("VACUUM");
        database.pragma("wal_checkpoint(TRUNCATE)");
        return true;
      } finally {
        unlock();
      }
    },
  };
}

function lockIfFree(dataDir: string): (() => void) | null {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof AlreadyServedError) return null;
    throw error;
  }
}

interface Wanted {
  /** What rows have that need no change. */
  mark: string;
  /** The other keys that are there. */
  others: readonly string[];
  from: number;
  limit: number;
}

/** The next rows that are plain, or encrypted with another key that is there. */
function rowsOf(database: Database, table: SealedTable, { mark, others, from, limit }: Wanted): SealedRow[] {
  const { name, id, text } = table;
  const statement = database.prepare<unknown[], SealedRow>(`
    SELECT ${columnsOfSealed(table, "events")} FROM ${name}
    WHERE ${id} >= ? AND ${text} IS NOT NULL AND substr(${text}, 1, ${mark.length}) <> ?
      AND (NOT ${IS_SEALED_SQL(text)} OR ${KEY_IN_SQL(text)} IN (SELECT value FROM json_each(?)))
    ORDER BY ${id} LIMIT ?`);
  const rows: SealedRow[] = [];
  let bytes = 0;
  for (const row of statement.iterate(from, mark, JSON.stringify(others), limit)) {
    bytes += row.bytes?.length ?? 0;
    if (rows.length > 0 && bytes > MAX_PAYLOAD_BYTES) break;
    rows.push(row);
  }
  return rows;
}

function updateOf(database: Database, { name, id, key, text, bytes }: SealedTable) {
  const hasChecksum = bytes === "payload";
  const isHeld = name === "held";
  const set = [
    `${text} = @text`,
    ...(bytes ? [`${bytes} = @bytes`] : []),
    ...(hasChecksum ? ["payload_crc32 = @crc"] : []),
    ...(isHeld ? ["target = @target"] : []),
  ];
  const where = [`${id} = @id`, ...key.map((column) => `${column} = @${column}`)];
  const update = database.prepare(`UPDATE ${name} SET ${set.join(", ")} WHERE ${where.join(" AND ")}`);
  return (row: SealedRow, sealed: ReturnType<SealedTable["reseal"]>): void => {
    const named = Object.fromEntries(key.map((column) => [column, row[column]]));
    const crc = hasChecksum && sealed.bytes ? { crc: crc32(sealed.bytes) } : {};
    const target = isHeld ? { target: sealed.target } : {};
    update.run({ ...named, ...crc, ...target, id: row.id, text: sealed.text, ...(bytes && { bytes: sealed.bytes }) });
  };
}
