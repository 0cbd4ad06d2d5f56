import { crc32 } from "node:zlib";
import type { EncryptionStore } from "../events/encryption.ts";
import { SEALED_NAMES, sealedStore } from "../storage/encryption.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import { asAsync } from "./async-store.ts";
import { AlreadyServedError, lockDataDir } from "./data-dir.ts";
import type { Database } from "./database.ts";
import { onSqlite } from "./queries.ts";

type Sealed = Omit<EncryptionStore, "tables">;

/** The store of encryption on a database of a data directory. */
export const encryptionStore = (database: Database, codec: PayloadCodec, dataDir: string): EncryptionStore => ({
  ...asAsync<Sealed>({ ...onSqlite(database, sealedStore(codec, crc32)), clean: () => clean(database, dataDir) }),
  tables: SEALED_NAMES,
});

function clean(database: Database, dataDir: string): boolean {
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
}

function lockIfFree(dataDir: string): (() => void) | null {
  try {
    return lockDataDir(dataDir);
  } catch (error) {
    if (error instanceof AlreadyServedError) return null;
    throw error;
  }
}
