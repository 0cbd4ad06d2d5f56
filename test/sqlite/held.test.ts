import { localStores } from "../../src/sqlite/stores.ts";
import { heldStoreContract } from "../contract/held-store.ts";
import { tempDatabase } from "../helpers/database.ts";

heldStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).held);
