import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { needsPostgres } from "../../helpers/back-end.ts";
import { deliver } from "../../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { startPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { startTarget } from "../../helpers/target.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

async function open(t: TestContext, url: string, env: Record<string, string> = {}): Promise<Server> {
  const server = await startServer({ env: { ...PATIENT, ...env, DATABASE_URL: url } });
  t.after(() => server[Symbol.asyncDispose]());
  return server;
}

/** A listener that asks a server over its API. Returns the ids of events that have arrived at its target. */
async function listenTo(t: TestContext, server: Server): Promise<() => string[]> {
  const target = await startTarget();
  t.after(() => target[Symbol.asyncDispose]());
  const dir = workingDir();
  const file = join(dir, "token");
  writeFileSync(file, (await server.run(["tokens", "create", "laptop", "--scope", "listen"])).stdout);
  const args = ["listen", "--forward", target.url, "--server", server.url, "--token-file", file];
  const command = startProgram(EXECUTABLE, args, { dir, env: { XDG_STATE_HOME: dir } });
  t.after(() => void command.child.kill("SIGKILL"));
  await until(() => command.stderr().includes("Listening as"));
  return () => target.received.map(({ headers }) => String(headers["x-event-id"]));
}

/** Delivers an event until it is stored: while the database is away, it is refused. */
async function send(server: Server, id: string): Promise<void> {
  await until(async () => (await deliver(server, { id, type: "push" })).status === 200);
}

suite("listen on PostgreSQL", needsPostgres(), () => {
  test("gets each event once, whichever server has taken it", async (t) => {
    const { url } = await tempPostgres(t);
    const servers = [await open(t, url), await open(t, url)];
    const received = await listenTo(t, servers[0] as Server);
    const ids = Array.from({ length: 40 }, (_, nth) => `e-${nth}`);
    await Promise.all(ids.map((id, nth) => send(servers[nth % 2] as Server, id)));
    await until(() => received().length >= ids.length);
    assert.deepEqual(received().toSorted(), ids.toSorted());
  });

  test("goes on behind a failover without a gap or a repeat", async (t) => {
    const primary = await startPostgres(t);
    const standby = await primary.standby();
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query("SELECT pg_reload_conf()");
    const replication = "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'";
    await until(async () => (await primary.query(replication)).length === 1);
    const server = await open(t, `postgres://authserve@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`);
    const received = await listenTo(t, server);
    for (const id of ["a", "b"]) await send(server, id);
    await until(() => received().length === 2);
    await primary.kill();
    await standby.promote();
    for (const id of ["c", "d"]) await send(server, id);
    await until(() => received().length >= 4);
    assert.deepEqual(received(), ["a", "b", "c", "d"]);
  });

  test("goes on with what comes after a failover to a standby that lacked events, encrypted ones too", async (t) => {
    const primary = await startPostgres(t);
    const standby = await primary.standby();
    const url = `postgres://authserve@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
    const dir = workingDir();
    const ENCRYPTION_KEYS = join(dir, "key");
    writeFileSync(ENCRYPTION_KEYS, randomBytes(32).toString("base64"), { mode: 0o600 });
    const server = await open(t, url, { ENCRYPTION_KEYS });
    const received = await listenTo(t, server);
    for (const id of ["a", "b"]) await send(server, id);
    await until(() => received().length === 2);
    const isThere = "SELECT 1 FROM authserve.events WHERE event_id = 'b'";
    await until(async () => (await standby.query(isThere)).length === 1);
    await standby.query("ALTER SYSTEM SET primary_conninfo = ''");
    await standby.query("SELECT pg_reload_conf()");
    await until(async () => (await primary.query("SELECT 1 FROM pg_stat_replication")).length === 0);
    for (const id of ["lost-1", "lost-2"]) await send(server, id);
    await until(() => received().length === 4);
    await primary.kill();
    await standby.promote();
    for (const id of ["c", "d"]) await send(server, id);
    await until(() => received().includes("d"));
    assert.deepEqual(received(), ["a", "b", "lost-1", "lost-2", "c", "d"]);
    const shown = JSON.parse((await server.run(["events", "show", "d", "--json"])).stdout) as { status: string };
    assert.equal(shown.status, "processed");
  });
});
