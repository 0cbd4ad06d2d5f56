import { localStores } from "../../src/sqlite/stores.ts";
import { peopleStoreContract } from "../contract/people-store.ts";
import { tempDatabase } from "../helpers/database.ts";

peopleStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database));
