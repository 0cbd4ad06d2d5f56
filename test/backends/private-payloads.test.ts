import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { suite } from "node:test";
import { privatePayloadSuite } from "../contract/private-payloads.ts";
import { needsPostgres, postgresBin } from "../helpers/back-end.ts";
import { tempPostgres } from "../helpers/postgres.ts";
import { PATIENT } from "../helpers/several-servers.ts";

suite("with PostgreSQL", needsPostgres(), () => {
  privatePayloadSuite(
    "PostgreSQL",
    async (t) => ({ ...PATIENT, DATABASE_URL: (await tempPostgres(t)).url }),
    ({ env }, text) => {
      const pgDump = join(postgresBin() ?? "", "pg_dump");
      const dump = execFileSync(pgDump, [String(env.DATABASE_URL)], { maxBuffer: 1024 ** 3 });
      // Bytes are in hexadecimal there.
      return [text, Buffer.from(text).toString("hex")].some((form) => dump.includes(form));
    },
  );
});
