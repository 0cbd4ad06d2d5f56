import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Client } from "pg";
import { checkPostgres } from "../../../src/cli/checks/database.ts";
import { DATABASE_SETTING_NAMES, readSettings } from "../../../src/config/settings.ts";
import { createTrial } from "../../../src/postgres/trial.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { ask, assertProblem, deliver, event, notReady } from "../../helpers/client.ts";
import { partOfTable } from "../../helpers/part-of-table.ts";
import { emptyDatabase, openPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";

const TABLES =
  "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'authserve' AND tablename <> 'schema_version'";

/** What doctor finds wrong with writes to the database. */
async function wrongIn(url: string): Promise<string[]> {
  const settings = readSettings({ ...PATIENT, DATABASE_URL: url }, DATABASE_SETTING_NAMES);
  assert.ok(settings.DATABASE_URL);
  const { findings } = await checkPostgres(settings, settings.DATABASE_URL);
  return findings
    .filter(({ check, verdict }) => check === "writes" && verdict === "wrong")
    .map(({ found, remedy }) => `${found} → ${remedy}`);
}

/** Waits until these parts are not ready, and no other. */
async function partsAreDown(server: { url: string }, wanted: readonly string[]): Promise<void> {
  await until(async () => {
    const answer = await ask(server, "/readyz");
    const parts = notReady(answer);
    assert.equal(answer.status, parts.length === 0 ? 200 : 503);
    return parts.join() === wanted.join();
  });
}

/** Another session. */
async function openOther(context: Cleanup, url: string): Promise<Client> {
  const other = new Client({ connectionString: url });
  other.on("error", () => {});
  await other.connect();
  context.after(() => other.end().catch(() => {}));
  return other;
}

suite("a server on PostgreSQL is ready only if a delivery could be stored", needsPostgres(), () => {
  test("each table that is gone makes its part not ready, and doctor names it", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await using server = await startServer({ env: { ...PATIENT, DATABASE_URL: url } });
    await partsAreDown(server, []);
    const tables = await postgres.rows<{ name: string }>(TABLES);
    assert.ok(tables.length > 30);
    for (const { name } of tables) {
      await postgres.run(`ALTER TABLE authserve.${name} RENAME TO moved_away`);
      await partsAreDown(server, [partOfTable(name)]);
      const wrong = await wrongIn(url);
      assert.equal(wrong.length, 1, wrong.join("\n"));
      assert.match(wrong[0] ?? "", new RegExp(`^the table authserve\\.${name} does not exist → `));
      await postgres.run(`ALTER TABLE authserve.moved_away RENAME TO ${name}`);
      await partsAreDown(server, []);
    }
    assert.equal((await deliver(server, event("evt_1"))).status, 200);
  });

  test("each right that is revoked makes its part not ready, and doctor names it with a remedy", async (t) => {
    const url = await emptyDatabase(t);
    const name = new URL(url).pathname.slice(1);
    const admin = openPostgres(t, url);
    await admin.run(`CREATE ROLE ${name} LOGIN`);
    await admin.run(`GRANT CREATE ON DATABASE ${name} TO ${name}`);
    const own = url.replace("authserve@", `${name}@`);
    await using server = await startServer({ env: { ...PATIENT, DATABASE_URL: own } });
    t.after(() => admin.run(`DROP OWNED BY ${name}; DROP ROLE ${name}`).catch(() => {}));
    await partsAreDown(server, []);
    for (const table of (await admin.rows<{ name: string }>(TABLES)).map((row) => row.name)) {
      await admin.run(`REVOKE INSERT ON authserve.${table} FROM ${name}`);
      await partsAreDown(server, [partOfTable(table)]);
      const [wrong] = await wrongIn(own);
      assert.equal(
        wrong,
        `the user ${name} lacks the right INSERT on authserve.${table} → run GRANT INSERT ON authserve.${table} TO ${name} as its owner`,
      );
      await admin.run(`GRANT INSERT ON authserve.${table} TO ${name}`);
      await partsAreDown(server, []);
    }
  });

  test("tables that another session locks make their part not ready, and doctor names the session", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const other = await openOther(t, url);
    const [{ pid } = { pid: 0 }] = (await other.query("SELECT pg_backend_pid() AS pid")).rows as { pid: number }[];
    await using server = await startServer({ env: { ...PATIENT, DATABASE_URL: url } });
    const tables = (await postgres.rows<{ name: string }>(TABLES)).map(({ name }) => name);
    const byPart = Object.entries(Object.groupBy(tables, (table) => partOfTable(table)));
    for (const [part, names = []] of byPart) {
      await other.query(`BEGIN; LOCK TABLE ${names.map((name) => `authserve.${name}`).join(", ")} IN SHARE MODE`);
      const [wrong] = await Promise.all([wrongIn(url), partsAreDown(server, [part])]);
      const remedy = `end its transaction, or run SELECT pg_terminate_backend(${pid})`;
      const wanted = names.map((name) => `the session ${pid} locks authserve.${name} → ${remedy}`);
      assert.deepEqual(wrong, wanted.sort());
      await other.query("COMMIT");
      await partsAreDown(server, []);
    }
  });

  test("the command doctor exits 1 while a delivery is refused", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await using server = await startServer({ env: { ...PATIENT, DATABASE_URL: url } });
    await postgres.run("ALTER TABLE authserve.contents RENAME TO moved_away");
    assertProblem(await deliver(server, event("evt_1")), 503, "store_unavailable");
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1, stdout);
    assert.match(stdout, /wrong +writes +the table authserve\.contents does not exist → /);
    await server.stop();
    assert.match((await server.run(["doctor"])).stdout, /the table authserve\.contents does not exist → /);
  });

  test("a delivery that a trigger refuses is found by the next trial", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    await using server = await startServer({ env: { ...PATIENT, DATABASE_URL: url } });
    await partsAreDown(server, []);
    await postgres.run(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not on sundays'; END $$`,
    );
    await postgres.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON authserve.contents FOR EACH ROW EXECUTE FUNCTION refuse()",
    );
    assertProblem(await deliver(server, event("evt_1")), 503, "store_unavailable");
    await partsAreDown(server, ["events"]);
    assert.match((await wrongIn(url)).join(), /^a trial delivery was refused \(P0001: not on sundays\) → /);
    await postgres.run("DROP TRIGGER refuse ON authserve.contents");
    await partsAreDown(server, []);
  });

  test("a trial leaves no row in any table", async (t) => {
    const { postgres } = await tempPostgres(t);
    const tables = await postgres.rows<{ name: string }>(TABLES);
    const count = async ({ name }: { name: string }) => [
      name,
      (await postgres.rows(`SELECT FROM authserve.${name}`)).length,
    ];
    const before = await Promise.all(tables.map(count));
    assert.deepEqual(await createTrial(postgres).run(), []);
    assert.deepEqual(await Promise.all(tables.map(count)), before);
  });
});
