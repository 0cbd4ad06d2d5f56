import { suite } from "node:test";
import type { ClientStore } from "../../../src/auth/clients/store.ts";
import { smallStoresOn } from "../../../src/postgres/stores.ts";
import { clientStoreContract } from "../../contract/client-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { openPostgres, reusedPostgres } from "../../helpers/postgres.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";

/** The stores of two servers on one database, as one whose calls go to each in turn. */
async function openTwo(t: Cleanup): Promise<ClientStore> {
  const { url } = await reusedPostgres(t);
  const stores = [openPostgres(t, url), openPostgres(t, url)].map((postgres) => smallStoresOn(postgres).clients);
  let calls = 0;
  return new Proxy({} as ClientStore, {
    get: (_, name: keyof ClientStore) => stores[calls++ % stores.length]?.[name],
  });
}

suite("apps that log in, on PostgreSQL", needsPostgres(), () => {
  clientStoreContract("PostgreSQL", async (t) => smallStoresOn((await reusedPostgres(t)).postgres).clients);
  clientStoreContract("two servers on PostgreSQL", openTwo);
});
