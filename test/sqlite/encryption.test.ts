import assert from "node:assert/strict";
import { test } from "node:test";
import { localStores } from "../../src/sqlite/stores.ts";
import { createPayloadCodec, encryptionKey } from "../../src/storage/payload-codec.ts";
import { clientStoreContract, signingKeyOf } from "../contract/client-store.ts";
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

clientStoreContract(
  "SQLite with encryption",
  async (t) => localStores(tempDatabase(t).database, undefined, codec).clients,
);

encryptionContract("SQLite", async (t) => {
  const { database } = tempDatabase(t);
  return (given) => localStores(database, undefined, given);
});

test("a key that was put into the row of another one is not opened", async (t) => {
  const { database } = tempDatabase(t);
  const { clients } = localStores(database, undefined, codec);
  await clients.addSigningKey(signingKeyOf("a"));
  database.exec("UPDATE signing_keys SET id = 'b'");
  const [key] = await clients.signingKeys();
  assert.deepEqual([key?.privateKey, key?.fault], [null, "is damaged: the stored bytes do not match their encryption"]);
});
