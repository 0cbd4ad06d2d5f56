import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { suite } from "node:test";
import { erasureSuite } from "../contract/erasure.ts";
import { needsPostgres, postgresBin } from "../helpers/back-end.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { PATIENT } from "../helpers/several-servers.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  erasureSuite(
    "PostgreSQL",
    async (t) => ({ ...PATIENT, DATABASE_URL: (await tempPostgres(t)).url }),
    async ({ env }, text) => {
      const dump = execFileSync(join(postgresBin() ?? "", "pg_dump"), [String(env.DATABASE_URL)], {
        maxBuffer: 1024 ** 3,
      });
      // Bytes are in hexadecimal there.
      const forms = [text, Buffer.from(text).toString("hex")];
      return forms.filter((form) => dump.includes(form));
    },
  );
});
