import { suite } from "node:test";
import { onPostgres } from "../../../src/postgres/queries.ts";
import { catchUpStore } from "../../../src/storage/catch-ups.ts";
import { outageStore } from "../../../src/storage/outages.ts";
import { subscriptionStore } from "../../../src/storage/subscriptions.ts";
import { catchUpStoreContract } from "../../contract/catch-up-store.ts";
import { outageStoreContract } from "../../contract/outage-store.ts";
import { subscriptionStoreContract } from "../../contract/subscription-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("outages, catch-ups and subscriptions on PostgreSQL", needsPostgres(), () => {
  outageStoreContract("PostgreSQL", async (t) => onPostgres((await reusedPostgres(t)).postgres, outageStore));
  catchUpStoreContract("PostgreSQL", async (t) => onPostgres((await reusedPostgres(t)).postgres, catchUpStore));
  subscriptionStoreContract("PostgreSQL", async (t) =>
    onPostgres((await reusedPostgres(t)).postgres, subscriptionStore),
  );
});
