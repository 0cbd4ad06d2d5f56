import { suite } from "node:test";
import { createPostgresHeldStore } from "../../../src/postgres/held.ts";
import { heldStoreContract } from "../../contract/held-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("refused deliveries on PostgreSQL", needsPostgres(), () => {
  heldStoreContract("PostgreSQL", async (t) => createPostgresHeldStore((await reusedPostgres(t)).postgres));
});
