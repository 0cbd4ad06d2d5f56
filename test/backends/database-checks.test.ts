import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checkPostgres } from "../../src/cli/checks/database.ts";
import type { Finding } from "../../src/cli/checks/finding.ts";
import { DATABASE_SETTING_NAMES, readSettings } from "../../src/config/settings.ts";
import { createPostgresEventStore } from "../../src/postgres/events.ts";
import { needsPgbouncer, needsPostgres } from "../helpers/back-end.ts";
import { newEvent } from "../helpers/events.ts";
import { startPgbouncer } from "../helpers/pgbouncer.ts";
import { emptyDatabase, openPostgres, startPostgres, tempPostgres } from "../helpers/postgres.ts";
import { PATIENT } from "../helpers/several-servers.ts";
import { pairNamed } from "../helpers/tls.ts";
import { until } from "../helpers/until.ts";

/** The findings about a database, by their check. */
async function check(url: string, more: Record<string, string> = {}): Promise<Record<string, Finding>> {
  const settings = readSettings({ ...PATIENT, DATABASE_URL: url, ...more }, DATABASE_SETTING_NAMES);
  assert.ok(settings.DATABASE_URL);
  const { findings } = await checkPostgres(settings, settings.DATABASE_URL);
  return Object.fromEntries(findings.map((finding) => [finding.check, finding]));
}

suite("doctor on PostgreSQL", needsPostgres(), () => {
  test("names the server, its version and the schema", async (t) => {
    const { url } = await tempPostgres(t);
    const { PostgreSQL, schema } = await check(url);
    assert.match(PostgreSQL?.found ?? "", /^PostgreSQL \d+\.\d+.* at 127\.0\.0\.1:\d+ accepts writes$/);
    assert.deepEqual([PostgreSQL?.verdict, schema?.verdict], ["ok", "ok"]);
  });

  test("names all hosts of which one accepts writes", async (t) => {
    const { url } = await tempPostgres(t);
    const { PostgreSQL } = await check(url.replace("@127", "@127.0.0.1:1,127"));
    assert.match(PostgreSQL?.found ?? "", / at one of 127\.0\.0\.1:1, 127\.0\.0\.1:\d+ accepts writes$/);
  });

  test("knows when the newest event came, for the check of the clock", async (t) => {
    const { postgres, url } = await tempPostgres(t);
    const settings = readSettings({ ...PATIENT, DATABASE_URL: url }, DATABASE_SETTING_NAMES);
    assert.ok(settings.DATABASE_URL);
    assert.equal((await checkPostgres(settings, settings.DATABASE_URL)).newestAt, null);
    await createPostgresEventStore(postgres).append([newEvent({ receivedAt: 1234 })]);
    assert.equal((await checkPostgres(settings, settings.DATABASE_URL)).newestAt, 1234);
  });

  test("finds no fault in a database before the first start, and creates nothing in it", async (t) => {
    const url = await emptyDatabase(t);
    for (const _ of ["once", "again"]) {
      const { schema } = await check(url);
      assert.deepEqual([schema?.verdict, schema?.found], ["ok", "none yet: the first start creates it"]);
    }
  });

  test("says which right a user needs for the first start", async (t) => {
    const url = await emptyDatabase(t);
    const postgres = openPostgres(t, url);
    await postgres.run("CREATE ROLE app LOGIN");
    const { schema, standbys } = await check(url.replace("authserve@", "app@"));
    assert.deepEqual([schema?.verdict, schema?.remedy], ["wrong", "run GRANT CREATE ON DATABASE … TO …"]);
    assert.equal(standbys?.found, "none");
  });

  test("reports settings that lose acknowledged events", async (t) => {
    const database = await startPostgres(t, { settings: { fsync: "off", full_page_writes: "off" } });
    await database.query("ALTER ROLE authserve SET synchronous_commit = off");
    const settings = readSettings({ ...PATIENT, DATABASE_URL: database.url() }, DATABASE_SETTING_NAMES);
    assert.ok(settings.DATABASE_URL);
    const { findings } = await checkPostgres(settings, settings.DATABASE_URL);
    assert.deepEqual(
      findings.filter(({ verdict }) => verdict === "wrong").map(({ found }) => found.replace(/:.*/, "")),
      ["fsync is off", "full_page_writes is off", "synchronous_commit is off"],
    );
  });

  test("warns of standbys that may lack acknowledged events, until one is synchronous", async (t) => {
    const database = await startPostgres(t);
    await database.standby();
    await until(async () => (await database.query("SELECT FROM pg_stat_replication WHERE state = 'streaming'")).length);
    const { standbys } = await check(database.url());
    assert.equal(standbys?.verdict, "warning");
    assert.match(standbys?.found ?? "", /^1, none synchronous: a failover can lose the newest acknowledged events$/);

    await database.query("CREATE ROLE plain LOGIN");
    const seenBy = async (user: string) =>
      (await check(database.url().replace("authserve@", `${user}@`))).standbys?.found;
    assert.match(String(await seenBy("plain")), /^1, none synchronous/);

    await database.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await database.query("SELECT pg_reload_conf()");
    await until(async () => (await check(database.url())).standbys?.verdict === "ok");
    assert.match(String(await seenBy("plain")), /^1; which are synchronous is hidden from this user/);
  });

  test("warns of too few connections for the pool", async (t) => {
    const database = await startPostgres(t, { settings: { max_connections: "12" } });
    assert.equal((await check(database.url(), { DATABASE_POOL_SIZE: "5" })).connections?.verdict, "ok");
    assert.equal((await check(database.url(), { DATABASE_POOL_SIZE: "50" })).connections?.verdict, "warning");
  });

  test("warns of encryption without a verified certificate", async (t) => {
    const tls = pairNamed("first");
    const database = await startPostgres(t, { tls });
    const url = database.url().replace("127.0.0.1", "localhost");
    assert.equal((await check(url)).TLS, undefined);
    assert.equal((await check(`${url}?sslmode=no-verify`)).TLS?.verdict, "warning");
    const verified = await check(`${url}?sslmode=verify-full&sslrootcert=${tls.cert}`);
    assert.equal(verified.TLS?.verdict, "ok", JSON.stringify(verified.PostgreSQL));
    assert.match(
      (await check(`${url}?sslmode=verify-full`)).PostgreSQL?.found ?? "",
      /cannot be used \(.*certificate/i,
    );
  });

  test("does not show the password of a server that refuses it", async (t) => {
    const database = await startPostgres(t, { password: "right password" });
    const url = database.url().replace("right", "wrong");
    const { PostgreSQL, ...others } = await check(url);
    assert.deepEqual([PostgreSQL?.verdict, others], ["wrong", {}]);
    assert.match(PostgreSQL?.found ?? "", /password authentication failed/);
    assert.doesNotMatch(JSON.stringify(PostgreSQL), /wrong(?: |%20)password/);
  });
});

suite("doctor behind pgbouncer", needsPgbouncer(), () => {
  test("says that connections are pooled", async (t) => {
    const database = await startPostgres(t);
    assert.equal((await check(database.url())).pooler, undefined);
    const { pooler } = await check(await startPgbouncer(t, database));
    assert.match(pooler?.found ?? "", /^connections are pooled/);
  });
});
