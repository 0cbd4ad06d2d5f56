import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { Client } from "pg";
import { OperatorError } from "../../../src/errors.ts";
import { readSchema, SCHEMA, STEP_DIGESTS, schemaVersion } from "../../../src/postgres/schema.ts";
import { prepareSchema } from "../../../src/postgres/schema-update.ts";
import { stepsToRecord } from "../../../src/storage/schema-steps.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { authserve } from "../../helpers/command.ts";
import { recordingLog } from "../../helpers/log.ts";
import { emptyDatabase, openPostgres, startPostgres } from "../../helpers/postgres.ts";
import { STORES } from "../../helpers/released-stores.ts";
import { settings } from "../../helpers/server.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

/** A session of another program. */
async function connect(t: TestContext, url: string): Promise<Client> {
  const client = new Client({ connectionString: url, application_name: "another program" });
  client.on("error", () => {});
  t.after(() => client.end().catch(() => {}));
  await client.connect();
  return client;
}

const OLD_STORE = readFileSync(join(STORES, "0.2.0.sql"), "utf8");
const OLD_SCHEMA = 6;

/** A database of 0.2.0. */
async function oldDatabase(t: TestContext, given?: string): Promise<{ url: string; other: Client }> {
  const url = given ?? (await emptyDatabase(t));
  const other = await connect(t, url);
  await other.query(OLD_STORE);
  return { url, other };
}

/** Makes the step that changes a table take this long. */
const slowed = (seconds: number) => `
CREATE FUNCTION public.slow() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
  PERFORM pg_catalog.pg_sleep(${seconds}) FROM pg_catalog.pg_event_trigger_ddl_commands()
  WHERE object_identity = 'authserve.attempts' AND command_tag = 'ALTER TABLE';
END $$;
CREATE EVENT TRIGGER slow ON ddl_command_end EXECUTE FUNCTION public.slow()`;

const IN_SLOW_STEP = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'";

suite("the update of a PostgreSQL store from an older version", needsPostgres(), () => {
  test("may take longer than the time limit of other operations, for each server that waits for it", async (t) => {
    const { url, other } = await oldDatabase(t);
    await other.query(slowed(4));
    await other.query(`ALTER DATABASE ${other.database} SET statement_timeout = '1s'`);
    // The limits of this session end a statement after 3 s.
    const servers = [1, 2].map(() => openPostgres(t, url, { timeoutMs: 1500 }));
    const { log, named } = recordingLog();
    await Promise.all(servers.map((server) => prepareSchema(server, log)));
    assert.deepEqual(
      [...named("schema_updating"), ...named("schema_updated")].map(({ fromSchema, toSchema }) => [
        fromSchema,
        toSchema,
      ]),
      Array.from({ length: 4 }, () => [OLD_SCHEMA, SCHEMA]),
    );
    assert.equal(await schemaVersion(openPostgres(t, url)), SCHEMA);
  });

  test("goes on after the step at which it was cut off", async (t) => {
    const { url, other } = await oldDatabase(t);
    await other.query(slowed(600));
    const postgres = openPostgres(t, url);
    const { log } = recordingLog();
    const cutOff = assert.rejects(prepareSchema(postgres, log));
    const [{ pid }] = await until(async () => {
      const { rows } = await other.query(IN_SLOW_STEP);
      return rows.length > 0 ? rows : null;
    });
    await other.query("SELECT pg_terminate_backend($1)", [pid]);
    await cutOff;
    const { version, steps, fault } = await readSchema(postgres);
    assert.ok(version > OLD_SCHEMA && version < SCHEMA, `${version}`);
    assert.deepEqual([steps.length, fault], [version, null]);
    await other.query("DROP EVENT TRIGGER slow");
    await prepareSchema(postgres, log);
    assert.equal(stepsToRecord((await readSchema(postgres)).steps, STEP_DIGESTS), null);
  });

  test("names the session that locks a table, leaves the table to others meanwhile, and goes on after it", async (t) => {
    const { url, other } = await oldDatabase(t);
    const holder = await connect(t, url);
    await holder.query("BEGIN; SELECT FROM authserve.attempts");
    const { rows } = await holder.query("SELECT pg_backend_pid() AS pid");
    const { log, named } = recordingLog();
    const updated = prepareSchema(openPostgres(t, url), log);
    const line = await until(() => named("schema_update_blocked")[0]);
    const pid = rows[0].pid;
    assert.equal(
      line.message,
      `the database cannot be updated: the session ${pid} (another program) locks authserve.attempts: end its transaction, or run SELECT pg_terminate_backend(${pid}); trying again`,
    );
    await other.query("DELETE FROM authserve.attempts");
    await holder.query("COMMIT");
    await updated;
    assert.equal(await schemaVersion(openPostgres(t, url)), SCHEMA);
  });

  test("by a user who does not own the tables is refused with the remedy", async (t) => {
    const server = await startPostgres(t);
    const name = await server.createDatabase();
    const { other } = await oldDatabase(t, server.url(name));
    await other.query("CREATE ROLE service LOGIN; GRANT USAGE, CREATE ON SCHEMA authserve TO service");
    await other.query("GRANT ALL ON ALL TABLES IN SCHEMA authserve TO service");
    const url = server.url(name).replace("authserve@", "service@");
    const dir = workingDir();
    const checked = await authserve(["upgrade", "check"], { dir, env: settings(dir, { DATABASE_URL: url }) });
    assert.deepEqual([checked.code, /the user does not own the schema authserve/.test(checked.stdout)], [1, true]);
    const postgres = openPostgres(t, url);
    await assert.rejects(prepareSchema(postgres, recordingLog().log), (error) => {
      assert.ok(error instanceof OperatorError);
      assert.match(error.message, /must be owner of table .*: let the user of DATABASE_URL own the schema authserve/);
      return error.exitCode === 2;
    });
  });

  test("is told on standard error by a command", async (t) => {
    const { url } = await oldDatabase(t);
    const dir = workingDir();
    const env = settings(dir, { DATABASE_URL: url });
    const { code, stderr } = await authserve(["events", "list"], { dir, env });
    assert.deepEqual(
      [code, /^updating the database from schema 6 to .*\n.* has schema .* now/.test(stderr)],
      [0, true],
    );
  });
});
