import type { EncryptionStore } from "../events/encryption.ts";
import { SEALED_NAMES, sealedStore } from "../storage/encryption.ts";
import type { PayloadCodec } from "../storage/payload-codec.ts";
import { type Postgres, WHOLE_TABLE_MS } from "./connection.ts";
import { onPostgres } from "./queries.ts";

/** Encrypts what is stored in PostgreSQL. */
export const createPostgresEncryption = (postgres: Postgres, codec: PayloadCodec): EncryptionStore => ({
  // Once most rows are encrypted, the next one that is not may be millions of rows away.
  ...onPostgres(postgres, sealedStore(codec), { timeoutMs: WHOLE_TABLE_MS }),
  tables: SEALED_NAMES,
  // PostgreSQL's own VACUUM removes earlier versions of rows.
  clean: async () => true,
});
