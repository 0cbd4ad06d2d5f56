import { suite } from "node:test";
import { adminApiSuite } from "../contract/admin-api.ts";
import { needsPostgres } from "../helpers/back-end.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { PATIENT } from "../helpers/several-servers.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  adminApiSuite("PostgreSQL", async (t) => ({ ...PATIENT, DATABASE_URL: (await tempPostgres(t)).url }));
});
