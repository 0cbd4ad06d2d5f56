import { suite } from "node:test";
import { restartSuite } from "../../contract/restart.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { tempPostgres } from "../../helpers/postgres.ts";
import { PATIENT } from "../../helpers/several-servers.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  restartSuite("PostgreSQL", {
    envOf: async (t) => ({ ...PATIENT, DATABASE_URL: (await tempPostgres(t)).url }),
    listsShort: false,
  });
});
