import { suite } from "node:test";
import { createPostgresSourceStore } from "../../src/postgres/source-counts.ts";
import { sourceStoreContract } from "../contract/source-store.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import { tempPostgres } from "../helpers/postgres.ts";

suite("the counts of sources on PostgreSQL", needsPostgres(), () => {
  sourceStoreContract("PostgreSQL", async (t) => createPostgresSourceStore((await tempPostgres(t)).postgres));
});
