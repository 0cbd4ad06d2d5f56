import { suite } from "node:test";
import { createPostgresFactorStore } from "../../../src/postgres/factors.ts";
import { factorStoreContract } from "../../contract/factor-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("second factors on PostgreSQL", needsPostgres(), () => {
  factorStoreContract("PostgreSQL", async (t) => createPostgresFactorStore((await reusedPostgres(t)).postgres));
});
