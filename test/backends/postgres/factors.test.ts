import { suite } from "node:test";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { factorStore } from "../../../src/storage/factors.ts";
import { factorStoreContract } from "../../contract/factor-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("second factors on PostgreSQL", needsPostgres(), () => {
  factorStoreContract("PostgreSQL", async (t) => onPostgres((await reusedPostgres(t)).postgres, factorStore));
});
