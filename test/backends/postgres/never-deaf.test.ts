import { suite } from "node:test";
import { createPostgresCatchUpStore } from "../../../src/postgres/catch-ups.ts";
import { createPostgresOutageStore } from "../../../src/postgres/outage-store.ts";
import { createPostgresSubscriptionStore } from "../../../src/postgres/subscriptions.ts";
import { catchUpStoreContract } from "../../contract/catch-up-store.ts";
import { outageStoreContract } from "../../contract/outage-store.ts";
import { subscriptionStoreContract } from "../../contract/subscription-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("outages, catch-ups and subscriptions on PostgreSQL", needsPostgres(), () => {
  outageStoreContract("PostgreSQL", async (t) => createPostgresOutageStore((await reusedPostgres(t)).postgres));
  catchUpStoreContract("PostgreSQL", async (t) => createPostgresCatchUpStore((await reusedPostgres(t)).postgres));
  subscriptionStoreContract("PostgreSQL", async (t) =>
    createPostgresSubscriptionStore((await reusedPostgres(t)).postgres),
  );
});
