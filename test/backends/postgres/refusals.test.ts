import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import { NOBODY, needsMount, needsPostgres } from "../../helpers/back-end.ts";
import { ask, deliver, event, logIn, tryLogin } from "../../helpers/client.ts";
import { type PostgresServer, startPostgres } from "../../helpers/postgres.ts";
import { startLoad } from "../../helpers/postgres-load.ts";
import { SHORT_SERVER_MS } from "../../helpers/postgres-store.ts";
import { startServer } from "../../helpers/server.ts";
import { endOfSuite } from "../../helpers/several-servers.ts";
import { fill, mountDisk } from "../../helpers/small-disk.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

const END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authserve'";

suite("while PostgreSQL refuses, requests are answered 503, and nothing is lost or done twice", needsPostgres(), () => {
  const cleanup = endOfSuite(after);
  let database: PostgresServer;
  before(async () => {
    database = await startPostgres(cleanup);
  });

  test("it is read-only", async (t) => {
    const load = await startLoad(t, { url: database.url(await database.createDatabase()) });
    const setReadOnly = async (value: "on" | "off") => {
      await database.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
      await database.query("SELECT pg_reload_conf()");
    };
    t.after(() => setReadOnly("off"));
    await load.acknowledged(100);
    await setReadOnly("on");
    await load.isUnavailable();
    await setReadOnly("off");
    await load.heals();
    await load.isComplete();
  });

  test("another session locks the tables, and all connections wait", async (t) => {
    const url = database.url(await database.createDatabase());
    const load = await startLoad(t, {
      url,
      timeoutMs: SHORT_SERVER_MS,
      env: { DATABASE_POOL_SIZE: "3" },
    });
    await load.acknowledged(100);
    const other = new Client({ connectionString: url });
    await other.connect();
    other.on("error", () => {});
    t.after(() => other.end().catch(() => {}));
    await other.query("BEGIN; LOCK TABLE authserve.events, authserve.sessions");
    await load.isUnavailable();
    await other.query("COMMIT");
    await load.heals();
    await load.isComplete();
  });

  test("another session locks a table of every delivery: none waits for those before it and then for itself", async (t) => {
    const url = database.url(await database.createDatabase());
    await using server = await startServer({ env: { DATABASE_URL: url, DATABASE_TIMEOUT: `${SHORT_SERVER_MS}ms` } });
    const other = new Client({ connectionString: url });
    await other.connect();
    other.on("error", () => {});
    t.after(() => other.end().catch(() => {}));
    await other.query("BEGIN; LOCK TABLE authserve.tally");
    // Each is sent once the server has begun the commit of the one before.
    const answers: Promise<{ status: number }>[] = [];
    for (let sent = 0; sent < 8; sent++) {
      answers.push(deliver(server, event(`evt_${sent}`)));
      await delay(SHORT_SERVER_MS / 20);
    }
    for (const answer of answers) assert.equal((await answer).status, 503);
    const errors = server.log("request_failed").map(({ error }) => String(error));
    assert.ok(
      errors.some((error) => error.includes("the store is too slow")),
      errors.join("\n"),
    );
    await other.query("COMMIT");
    await until(async () => (await deliver(server, event("evt_7"))).status === 200);
  });

  test("another session locks every table: each request is answered while the locks stay", async (t) => {
    const url = database.url(await database.createDatabase());
    await using server = await startServer({ env: { DATABASE_URL: url, DATABASE_TIMEOUT: `${SHORT_SERVER_MS}ms` } });
    const token = await until(() => logIn(server).catch(() => null));
    const other = new Client({ connectionString: url });
    await other.connect();
    other.on("error", () => {});
    t.after(() => other.end().catch(() => {}));
    const { rows } = await other.query("SELECT tablename AS name FROM pg_tables WHERE schemaname = 'authserve'");
    await other.query(`BEGIN; LOCK TABLE ${rows.map(({ name }) => `authserve.${name}`).join(", ")}`);
    const headers = { authorization: `Bearer ${token}` };
    const asked = ["events", "jobs", "sources", "alerts", "session", "held"].map((name) => `/admin/api/${name}`);
    const answers = await Promise.all([
      deliver(server, event("locked")),
      tryLogin(server),
      ...["/auth/me", "/auth/verify", "/readyz", ...asked].map((path) => ask(server, path, { headers })),
    ]);
    for (const { status } of answers) assert.equal(status, 503);
    assert.equal((await ask(server, "/metrics")).status, 200);
    await other.query("COMMIT");
    await until(async () => (await ask(server, "/readyz")).status === 200);
  });

  test("it has no connection left", async (t) => {
    const name = await database.createDatabase();
    await database.query(`CREATE ROLE service LOGIN; GRANT CREATE ON DATABASE ${name} TO service`);
    const load = await startLoad(t, {
      url: database.url(name).replace("authserve@", "service@"),
      adminUrl: database.url(name),
    });
    await load.acknowledged(100);
    await database.query("ALTER ROLE service CONNECTION LIMIT 0");
    await database.query(END_OTHERS);
    await load.isUnavailable();
    await database.query("ALTER ROLE service CONNECTION LIMIT -1");
    await load.heals();
    await load.isComplete();
  });

  test("it does not take the password any more", async (t) => {
    const database = await startPostgres(t, { password: "the first" });
    const load = await startLoad(t, { url: database.url() });
    await load.acknowledged(100);
    await database.query("ALTER USER authserve PASSWORD 'another'");
    await database.query(END_OTHERS);
    await load.isUnavailable();
    await database.query("ALTER USER authserve PASSWORD 'the first'");
    await load.heals();
    await load.isComplete();
  });

  test("its disk is full", needsMount(), async (t) => {
    const dir = workingDir(0o755);
    const disk = join(dir, "disk");
    mountDisk(t, disk, "80m");
    chmodSync(disk, 0o755);
    const dataDir = join(disk, "data");
    mkdirSync(dataDir);
    if (process.getuid?.() === 0) chownSync(dataDir, NOBODY, NOBODY);
    const database = await startPostgres(t, { dataDir });
    const load = await startLoad(t, { url: database.url() });
    await load.acknowledged(100);
    const filler = join(disk, "filler");
    fill(filler);
    await until(() => load.server.log("request_failed").some(({ error }) => /53100/.test(String(error))));
    // Small rows still find room in pages that are there, so the server is ready in between.
    await until(async () => (await load.server.run(["doctor"])).code === 1);
    rmSync(filler);
    await load.heals();
    await load.isComplete();
  });
});
