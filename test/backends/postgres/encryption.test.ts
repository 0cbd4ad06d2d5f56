import { suite } from "node:test";
import { createPostgresEncryption } from "../../../src/postgres/encryption.ts";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { createPostgresHeldStore } from "../../../src/postgres/held.ts";
import { createPayloadCodec, encryptionKey } from "../../../src/storage/payload-codec.ts";
import { encryptionContract } from "../../contract/encryption.ts";
import { eventStoreContract } from "../../contract/event-store.ts";
import { heldStoreContract } from "../../contract/held-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

const codec = createPayloadCodec([encryptionKey(Buffer.alloc(32, 1))]);

suite("on PostgreSQL with encryption", needsPostgres(), () => {
  const events = async (t: Cleanup) => createPostgresEventStore((await reusedPostgres(t)).postgres, undefined, codec);
  eventStoreContract("PostgreSQL with encryption", events);
  heldStoreContract("PostgreSQL with encryption", async (t) =>
    createPostgresHeldStore((await reusedPostgres(t)).postgres, codec),
  );
  encryptionContract("PostgreSQL", async (t) => {
    const { postgres } = await reusedPostgres(t);
    return (given) => ({
      events: createPostgresEventStore(postgres, undefined, given),
      held: createPostgresHeldStore(postgres, given),
      encryption: createPostgresEncryption(postgres, given),
    });
  });
});
