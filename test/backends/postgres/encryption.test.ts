import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createPostgresEncryption } from "../../../src/postgres/encryption.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { smallStoresOn } from "../../../src/postgres/stores.ts";
import { createPayloadCodec, encryptionKey } from "../../../src/storage/payload-codec.ts";
import { clientStoreContract } from "../../contract/client-store.ts";
import { encryptionContract } from "../../contract/encryption.ts";
import { eventStoreContract } from "../../contract/event-store.ts";
import { heldStoreContract } from "../../contract/held-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { openPostgres, reusedPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { SHORT_MS } from "../../helpers/postgres-store.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

const codec = createPayloadCodec([encryptionKey(Buffer.alloc(32, 1))]);

suite("on PostgreSQL with encryption", needsPostgres(), () => {
  const events = async (t: Cleanup) => createPostgresEventStore((await reusedPostgres(t)).postgres, undefined, codec);
  eventStoreContract("PostgreSQL with encryption", events);
  heldStoreContract(
    "PostgreSQL with encryption",
    async (t) => smallStoresOn((await reusedPostgres(t)).postgres, codec).held,
  );
  clientStoreContract(
    "PostgreSQL with encryption",
    async (t) => smallStoresOn((await reusedPostgres(t)).postgres, codec).clients,
  );
  encryptionContract("PostgreSQL", async (t) => {
    const { postgres } = await reusedPostgres(t);
    return (given) => ({
      events: createPostgresEventStore(postgres, undefined, given),
      held: smallStoresOn(postgres, given).held,
      clients: smallStoresOn(postgres, given).clients,
      encryption: createPostgresEncryption(postgres, given),
    });
  });

  test("the rows of each key are counted, however long a table takes", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await postgres.run("ALTER TABLE authserve.contents RENAME TO kept");
    // The limits of the session end a statement after twice the time limit.
    const slow = `SELECT kept.* FROM authserve.kept, pg_sleep(${(2.5 * SHORT_MS) / 1000})`;
    await postgres.run(`CREATE VIEW authserve.contents AS ${slow}`);
    await postgres.run("INSERT INTO authserve.kept VALUES (1, '', '', '{}', '', '')");
    const hurried = openPostgres(t, url, { timeoutMs: SHORT_MS });
    assert.deepEqual(await createPostgresEncryption(hurried, codec).forgetKeys(), {});
  });
});
