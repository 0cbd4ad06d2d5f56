import { suite } from "node:test";
import { postgresEvents } from "../../../src/postgres/events.ts";
import { eventStoreContract } from "../../contract/event-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("on PostgreSQL", needsPostgres(), () => {
  eventStoreContract("PostgreSQL", async (t) => postgresEvents((await reusedPostgres(t)).postgres));
});
