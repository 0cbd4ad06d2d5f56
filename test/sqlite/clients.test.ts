import { localStores } from "../../src/sqlite/stores.ts";
import { clientStoreContract } from "../contract/client-store.ts";
import { tempDatabase } from "../helpers/database.ts";

clientStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).clients);
