import { suite } from "node:test";
import { createPostgresEventStore } from "../../../src/postgres/events.ts";
import { eventStoreContract } from "../../contract/event-store.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { reusedPostgres } from "../../helpers/postgres.ts";

suite("on PostgreSQL", needsPostgres(), () => {
  eventStoreContract("PostgreSQL", async (t) => createPostgresEventStore((await reusedPostgres(t)).postgres));
});
