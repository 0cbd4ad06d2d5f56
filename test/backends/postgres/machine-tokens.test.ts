import { suite } from "node:test";
import { createPostgresTokenStore } from "../../../src/postgres/machine-tokens.ts";
import { tokenStoreContract } from "../../contract/token-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("tokens of programs on PostgreSQL", needsPostgres(), () => {
  tokenStoreContract("PostgreSQL", async (t) => createPostgresTokenStore((await reusedPostgres(t)).postgres));
});
