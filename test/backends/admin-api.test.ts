import { suite } from "node:test";
import { adminApiSuite } from "../contract/admin-api.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import { startPostgres } from "../helpers/postgres.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  adminApiSuite("PostgreSQL", async (t) => ({ DATABASE_URL: (await startPostgres(t)).url() }));
});
