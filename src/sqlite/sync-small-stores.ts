import type { PayloadCodec } from "../storage/payload-codec.ts";
import { ofSmallStores, type SmallStores } from "../storage/small-stores.ts";
import type { SyncPort } from "./async-store.ts";
import type { Database } from "./database.ts";
import { onSqlite } from "./queries.ts";
import { addStats } from "./stats.ts";

/** The synchronous form of the stores that are written once for both databases. */
export const syncSmallStores = (database: Database, codec: PayloadCodec) =>
  ofSmallStores<{ [Name in keyof SmallStores]: SyncPort<SmallStores[Name]> }>({ codec, addStats }, (store) =>
    onSqlite(database, store),
  );
