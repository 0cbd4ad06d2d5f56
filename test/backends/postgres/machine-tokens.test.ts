import { suite } from "node:test";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { tokenStore } from "../../../src/storage/machine-tokens.ts";
import { tokenStoreContract } from "../../contract/token-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("tokens of programs on PostgreSQL", needsPostgres(), () => {
  tokenStoreContract("PostgreSQL", async (t) => onPostgres((await reusedPostgres(t)).postgres, tokenStore));
});
