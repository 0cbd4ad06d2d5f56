import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Client } from "pg";
import { needsPostgres } from "../../helpers/back-end.ts";
import { authserve } from "../../helpers/command.ts";
import { emptyDatabase } from "../../helpers/postgres.ts";
import { assertUpgraded, RELEASED_VERSIONS, STORES, startWithRoutes } from "../../helpers/released-stores.ts";
import { settings } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { workingDir } from "../../helpers/working-dir.ts";

suite("the PostgreSQL store of a released version", needsPostgres(), () => {
  for (const version of RELEASED_VERSIONS) {
    test(`${version} is upgraded by a start, with all that is in it`, async (t) => {
      const url = await emptyDatabase(t);
      const client = new Client({ connectionString: url });
      await client.connect();
      await client.query(readFileSync(join(STORES, `${version}.sql`), "utf8"));
      await client.end();
      const dir = workingDir();
      const checked = await authserve(["upgrade", "check"], {
        dir,
        env: settings(dir, { ...PATIENT, DATABASE_URL: url }),
      });
      assert.equal(checked.code, 0, checked.stdout);
      await using server = await startWithRoutes(dir, { ...PATIENT, DATABASE_URL: url });
      await assertUpgraded(server, version);
    });
  }
});
