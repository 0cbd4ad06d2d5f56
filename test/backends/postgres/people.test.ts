import { suite } from "node:test";
import { smallStoresOn } from "../../../src/postgres/stores.ts";
import { peopleStoreContract } from "../../contract/people-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("people on PostgreSQL", needsPostgres(), () => {
  peopleStoreContract("PostgreSQL", async (t) => smallStoresOn((await reusedPostgres(t)).postgres));
});
