import { localStores } from "../../src/sqlite/stores.ts";
import { createPayloadCodec, encryptionKey } from "../../src/storage/payload-codec.ts";
import { encryptionContract } from "../contract/encryption.ts";
import { eventStoreContract } from "../contract/event-store.ts";
import { heldStoreContract } from "../contract/held-store.ts";
import { tempDatabase } from "../helpers/database.ts";

const codec = createPayloadCodec([encryptionKey(Buffer.alloc(32, 1))]);

eventStoreContract(
  "SQLite with encryption",
  async (t) => localStores(tempDatabase(t).database, undefined, codec).events,
);
heldStoreContract("SQLite with encryption", async (t) => localStores(tempDatabase(t).database, undefined, codec).held);

encryptionContract("SQLite", async (t) => {
  const { database } = tempDatabase(t);
  return (given) => localStores(database, undefined, given);
});
