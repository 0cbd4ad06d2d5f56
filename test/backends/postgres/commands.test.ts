import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { deliver, event, logIn, me, tryLogin } from "../../helpers/client.ts";
import { EXECUTABLE, startProgram } from "../../helpers/command.ts";
import { emptyDatabase, startPostgres, tempPostgres } from "../../helpers/postgres.ts";
import { type Server, startServer } from "../../helpers/server.ts";
import { PATIENT } from "../../helpers/several-servers.ts";
import { list, settled, show, stats } from "../../helpers/stored-events.ts";
import { startTarget } from "../../helpers/target.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { until } from "../../helpers/until.ts";

async function start(t: Cleanup, env: Record<string, string> = {}): Promise<{ server: Server; postgres: Postgres }> {
  const { postgres, url } = await tempPostgres(t);
  const server = await startServer({ env: { ...PATIENT, DATABASE_URL: url, ...env } });
  t.after(() => server[Symbol.asyncDispose]());
  return { server, postgres };
}

async function output(server: Server, ...args: string[]): Promise<string> {
  const { code, stdout, stderr } = await server.run(args);
  assert.equal(code, 0, stderr);
  return stdout + stderr;
}

const json = async (server: Server, ...args: string[]) => JSON.parse(await output(server, ...args, "--json"));

suite("commands on PostgreSQL", needsPostgres(), () => {
  test("show, replay, discard and remove events", async (t) => {
    await using target = await startTarget();
    target.answer((_, response) => response.writeHead(404).end());
    const env = { FORWARD_URL: target.url, RETRY_ATTEMPTS: "1" };
    const { server } = await start(t, env);
    for (const id of ["a", "b", "c"]) assert.equal((await deliver(server, event(id))).status, 200);
    await until(async () => (await stats(server)).failed === 3);
    assert.equal(
      (await show(server, "a")).jobs[0]?.deadLetter?.reason,
      (await show(server, "b")).jobs[0]?.deadLetter?.reason,
    );
    assert.deepEqual(
      (await list(server, "--status", "failed", "--search", '"id":"b"')).map(({ eventId }) => eventId),
      ["b"],
    );
    assert.equal((await json(server, "events", "discard", "c", "--reason", "not needed")).discarded, 1);

    target.answer((_, response) => response.writeHead(204).end());
    assert.equal((await json(server, "events", "replay", "--dead-letter", "--dry-run")).matched, 2);
    assert.equal((await json(server, "events", "replay", "--dead-letter")).replayed, 2);
    for (const id of ["a", "b"]) await settled(server, id);
    assert.equal((await json(server, "events", "replay", "a", "--force")).replayed, 1);
    await until(() => target.of("a").length === 3);
    assert.deepEqual(await json(server, "events", "prune", "--dry-run"), { events: 0, ids: 0, bytes: 0 });
    const [source] = await json(server, "sources", "list");
    assert.equal(source.received, 3);
  });

  test("pause and resume a route", async (t) => {
    const { server } = await start(t, { WORKER_POLL_INTERVAL: "100ms" });
    await output(server, "routes", "pause", "default");
    assert.equal((await deliver(server, event("waits"))).status, 200);
    await until(async () => (await json(server, "routes", "list"))[0].queued === 1);
    await output(server, "routes", "resume", "default");
    await settled(server, "waits");
  });

  test("show and end the session, and show and forget failed logins", async (t) => {
    const { server } = await start(t);
    const token = await logIn(server);
    assert.equal((await me(server, token)).status, 200);
    assert.match(await output(server, "session", "show"), /^user 1 has session /m);
    await output(server, "session", "revoke");
    assert.equal((await me(server, token)).status, 401);
    assert.equal((await tryLogin(server, { password: "not the password" })).status, 401);
    assert.equal((await json(server, "throttle", "show")).total.failures, 1);
    await output(server, "throttle", "clear");
    assert.equal((await json(server, "throttle", "show")).total.failures, 0);
    assert.equal((await json(server, "selftest", "sessions", "--rounds", "20")).store, "postgres");
  });

  test("a password that changed while no server ran ends the session", async (t) => {
    const { server } = await start(t);
    const token = await logIn(server);
    await server.stop();
    const DEMO_PASSWORD = "$2b$04$QoIh6tjqbuDYpjzJNHfJY.p7M677IMa0MKPe6lbrvPkLhrXKBZD4u";
    await using again = await startServer({ dir: server.dir, env: { ...server.env, PORT: "0", DEMO_PASSWORD } });
    await until(async () => (await me(again, token)).status === 401);
  });

  test("doctor reports the database, and a server that is ready", async (t) => {
    const database = await startPostgres(t);
    await using server = await startServer({ env: { ...PATIENT, DATABASE_URL: database.url() } });
    await database.query("ALTER SYSTEM SET full_page_writes = off");
    await database.query("SELECT pg_reload_conf()");
    await until(async () => (await database.query("SHOW full_page_writes"))[0]?.full_page_writes === "off");
    const { code, stdout } = await server.run(["doctor"]);
    assert.equal(code, 1);
    assert.match(stdout, /^ok +PostgreSQL +PostgreSQL \d+.* accepts writes$/m);
    assert.match(stdout, /^ok +schema +\d+, the current one$/m);
    assert.match(stdout, /^wrong +durability +full_page_writes is off: acknowledged events can be lost → /m);
    assert.match(stdout, /^ok +standbys +none$/m);
    assert.match(stdout, /^ok +snapshots +the oldest is \d+ seconds? old$/m);
    assert.match(stdout, /^ok +clocks +/m);
    assert.match(stdout, /^ok +connections +\d+ of 100 in use/m);
    assert.match(stdout, /^ok +server +runs at .* and is ready$/m);
    assert.doesNotMatch(stdout, /fsync +\d|free disk/);
  });

  test("backup and restore name the programs to use", async (t) => {
    const { server } = await start(t);
    const backup = await server.run(["backup", "file"]);
    assert.equal(backup.code, 2);
    assert.match(
      backup.stderr,
      /hint: use its own programs: pg_dump --format=custom --schema=authserve --file=FILE "\$DATABASE_URL"/,
    );
    assert.match((await server.run(["restore", "file"])).stderr, /stop all servers, then pg_restore .* && psql /);
  });

  test("selftest crash uses a database of its own, and removes it", async (t) => {
    const { server, postgres } = await start(t);
    const command = startProgram(EXECUTABLE, ["selftest", "crash", "--rounds", "2", "--json"], server);
    await command.exited;
    const { passed, acknowledged } = JSON.parse(command.stdout());
    assert.equal(passed, true);
    assert.ok(acknowledged > 0);
    const names = await postgres.rows("SELECT datname FROM pg_database WHERE datname LIKE 'authserve%'");
    assert.deepEqual(names, []);
  });

  test("no database file is made, and the folder of the server has its instance file only", async (t) => {
    const { server } = await start(t);
    const dir = join(server.dir, "data");
    assert.ok(existsSync(dir));
    assert.deepEqual(readdirSync(dir), ["server.json"]);
  });

  test("a database without its schema, or that does not answer, is an error with a remedy", async (t) => {
    const { server } = await start(t);
    const none = await server.run(["events", "list"], { ...server.env, DATABASE_URL: await emptyDatabase(t) });
    assert.deepEqual([none.code, none.stderr.includes("has no schema authserve")], [2, true], none.stderr);
    const away = { ...server.env, DATABASE_URL: "postgres://authserve:secret@127.0.0.1:1/none" };
    const gone = await server.run(["events", "list"], away);
    assert.equal(gone.code, 1, gone.stderr);
    assert.match(gone.stderr, /cannot be used \(ECONNREFUSED.*\)\n +hint: start PostgreSQL, or correct DATABASE_URL/);
    assert.doesNotMatch(gone.stderr, /secret/);
  });
});
