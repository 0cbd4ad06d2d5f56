import assert from "node:assert/strict";
import { execSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Client } from "pg";
import packageJson from "../../../package.json" with { type: "json" };
import { needsPostgres, postgresBin } from "../../helpers/back-end.ts";
import { authserve } from "../../helpers/command.ts";
import { emptyDatabase } from "../../helpers/postgres.ts";
import { assertUpgraded, RELEASED_VERSIONS, STORES, startWithRoutes } from "../../helpers/released-stores.ts";
import { settings } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { workingDir } from "../../helpers/working-dir.ts";

suite("the PostgreSQL store of a released version", needsPostgres(), () => {
  for (const version of RELEASED_VERSIONS) {
    test(`${version} is upgraded by a start, with all that is in it`, async (t) => {
      const url = await storeOf(version, t);
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

  // The schema of this version is that of its own stores.
  for (const version of RELEASED_VERSIONS.filter((one) => one !== packageJson.version)) {
    test(`the documented dump and restore bring ${version} back`, async (t) => {
      const url = await storeOf(version, t);
      const dir = workingDir();
      const env = { ...process.env, DATABASE_URL: url, PATH: `${postgresBin()}:${process.env.PATH}` };
      const [dump, restore] = [...manual.matchAll(/^pg_(?:dump|restore) .*$/gm)].map(([line]) => line);
      assert.ok(dump && restore);
      const schema = () =>
        execSync(`psql -At -c 'SELECT version FROM authserve.schema_version' "${url}"`, { env }).toString();
      const old = schema();
      execSync(dump, { cwd: dir, env });
      await (await startWithRoutes(dir, { ...PATIENT, DATABASE_URL: url })).stop();
      assert.notEqual(schema(), old);
      execSync(restore, { cwd: dir, env, stdio: "pipe" });
      assert.equal(schema(), old);
    });
  }
});

const manual = readFileSync(join(import.meta.dirname, "../../../docs/postgresql.md"), "utf8");

/** A database with the store of a version. */
async function storeOf(version: string, context: Cleanup): Promise<string> {
  const url = await emptyDatabase(context);
  const client = new Client({ connectionString: url });
  await client.connect();
  await client.query(readFileSync(join(STORES, `${version}.sql`), "utf8"));
  await client.end();
  return url;
}
