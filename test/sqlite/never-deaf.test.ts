import { localStores } from "../../src/sqlite/stores.ts";
import { catchUpStoreContract } from "../contract/catch-up-store.ts";
import { outageStoreContract } from "../contract/outage-store.ts";
import { subscriptionStoreContract } from "../contract/subscription-store.ts";
import { tempDatabase } from "../helpers/database.ts";

outageStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).outages);
catchUpStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).catchUps);
subscriptionStoreContract("SQLite", async (t) => localStores(tempDatabase(t).database).subscriptions);
