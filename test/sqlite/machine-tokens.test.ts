import { localStores } from "../../src/sqlite/stores.ts";
import { tokenStoreContract } from "../contract/token-store.ts";
import { tempDatabase } from "../helpers/database.ts";

tokenStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).tokens);
