import { suite } from "node:test";
import { smallStoresOn } from "../../../src/postgres/stores.ts";
import { heldStoreContract } from "../../contract/held-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("refused deliveries on PostgreSQL", needsPostgres(), () => {
  heldStoreContract("PostgreSQL", async (t) => smallStoresOn((await reusedPostgres(t)).postgres).held);
});
