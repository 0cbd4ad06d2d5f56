import { localStores } from "../../src/sqlite/stores.ts";
import { factorStoreContract } from "../contract/factor-store.ts";
import { tempDatabase } from "../helpers/database.ts";

factorStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).factors);
