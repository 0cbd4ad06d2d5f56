import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Postgres } from "../../src/postgres/connection.ts";
import { needsPgbouncer, needsPostgres } from "../helpers/back-end.ts";
import { startPgbouncer } from "../helpers/pgbouncer.ts";
import { type PostgresServer, startPostgres } from "../helpers/postgres.ts";
import { fillPool, heals, openWatched, TIMEOUT_MS, unavailableInTime } from "../helpers/postgres-store.ts";
import { startTcpProxy } from "../helpers/tcp-proxy.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";

const CREATE = "CREATE TABLE notes (text text)";
const write = (postgres: Postgres, text = "") => postgres.run("INSERT INTO notes VALUES ($1)", [text]);
const writeTwice = (postgres: Postgres) =>
  postgres.transaction(async (queries) => {
    await queries.run("INSERT INTO notes VALUES ('first')");
    await queries.run("INSERT INTO notes VALUES ('second')");
  });

/** More operations than connections, some of them on connections of before the fault. */
async function allUnavailableInTime(postgres: Postgres): Promise<void> {
  const operations = [write, writeTwice, (client: Postgres) => client.rows("SELECT * FROM notes")];
  for (let round = 0; round < 2; round++)
    await Promise.all([...operations, ...operations].map((operation) => unavailableInTime(() => operation(postgres))));
}

const throughPort = (server: PostgresServer, port: number) => server.url().replace(`:${server.port}/`, `:${port}/`);

const FAULTS: Record<string, [begin: (server: PostgresServer) => unknown, end: (server: PostgresServer) => unknown]> = {
  stops: [(server) => server.stop("fast"), (server) => server.restart()],
  crashes: [(server) => server.stop("immediate"), (server) => server.restart()],
  "is killed": [(server) => server.kill(), (server) => server.restart()],
  hangs: [(server) => server.pause(), (server) => server.resume()],
};

suite(
  "while PostgreSQL is away, operations fail in time, the watcher is told once, and then they succeed",
  needsPostgres(),
  () => {
    for (const [fault, [begin, end]] of Object.entries(FAULTS)) {
      test(`the server ${fault}`, async (t) => {
        const server = await startPostgres(t);
        const { postgres, ups, downs } = openWatched(t, server.url());
        await postgres.run(CREATE);
        await fillPool(postgres);
        const during = postgres.rows("SELECT pg_sleep(0.9)").catch(() => {});
        await begin(server);
        await allUnavailableInTime(postgres);
        await during;
        assert.equal(downs.length, 1, downs.join());
        await end(server);
        await heals(() => writeTwice(postgres));
        await fillPool(postgres);
        assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
      });
    }

    test("the network is cut", async (t) => {
      const server = await startPostgres(t);
      const proxy = await startTcpProxy(t, server.port);
      const { postgres, ups, downs } = openWatched(t, throughPort(server, proxy.port));
      await postgres.run(CREATE);
      await fillPool(postgres);
      proxy.cut();
      await allUnavailableInTime(postgres);
      proxy.mend();
      await heals(() => writeTwice(postgres));
      await fillPool(postgres);
      assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
    });

    test("the server hangs after each login", async (t) => {
      const server = await startPostgres(t);
      const { postgres, ups, downs } = openWatched(
        t,
        throughPort(server, (await hangsAfterLogin(t, server.port)).port),
      );
      await Promise.all(Array.from({ length: 6 }, () => unavailableInTime(() => postgres.rows("SELECT 1"))));
      assert.deepEqual([ups.length, downs.length], [0, 1]);
    });

    test("the server behind a pooler is killed", needsPgbouncer(), async (t) => {
      const server = await startPostgres(t);
      const url = await startPgbouncer(t, server, ["server_login_retry = 0.1"]);
      const { postgres, ups, downs } = openWatched(t, url);
      await postgres.run(CREATE);
      await server.kill();
      await allUnavailableInTime(postgres);
      await server.restart();
      await heals(() => writeTwice(postgres));
      assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
    });
  },
);

/** A proxy that passes the login and its answer, and the statements after it once it is mended. */
async function hangsAfterLogin(context: Cleanup, to: number): Promise<{ port: number; mend(): void }> {
  const held: (() => void)[] = [];
  const listener = createServer((client) => {
    const server = connect(to, "127.0.0.1");
    for (const socket of [client, server]) socket.on("error", () => {});
    client.once("data", (startup) => {
      server.write(startup);
      client.pause();
      held.push(() => client.pipe(server));
    });
    server.on("data", (answer) => client.write(answer));
    client.on("close", () => server.destroy());
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  context.after(() => void listener.close());
  return {
    port: (listener.address() as AddressInfo).port,
    mend() {
      for (const pass of held.splice(0)) pass();
    },
  };
}

suite("a connection to PostgreSQL, closed while the server hangs,", needsPostgres(), () => {
  test("ends within the time limit", async (t) => {
    const server = await startPostgres(t);
    const closing: (() => unknown)[] = [];
    const { postgres } = openWatched({ after: (end) => void closing.push(end as () => unknown) }, server.url());
    await fillPool(postgres);
    server.pause();
    const pending = unavailableInTime(() => postgres.rows("SELECT 1"));
    const startedAt = performance.now();
    for (const close of closing) await close();
    assert.ok(performance.now() - startedAt < TIMEOUT_MS + 500);
    await pending;
  });
});

suite("an answer to a commit that gets lost", needsPostgres(), () => {
  test("fails the operation, whose rows are there", async (t) => {
    const server = await startPostgres(t);
    const proxy = await startTcpProxy(t, server.port);
    const { postgres, downs } = openWatched(t, throughPort(server, proxy.port));
    await postgres.run(CREATE);
    await unavailableInTime(() =>
      postgres.transaction(async (queries) => {
        await queries.run("INSERT INTO notes VALUES ('kept')");
        proxy.loseAnswers();
      }),
    );
    proxy.mend();
    await until(async () => (await server.query("SELECT text FROM notes")).length === 1);
    assert.equal(downs.length, 1);
    await heals(() => write(postgres));
  });
});

suite("a server of PostgreSQL that refuses", needsPostgres(), () => {
  test("writes, since it became read-only, is down until it accepts them again", async (t) => {
    const server = await startPostgres(t);
    const { postgres, ups, downs } = openWatched(t, server.url());
    await postgres.run(CREATE);
    await fillPool(postgres);
    await setReadOnly(server, "on");
    await until(() =>
      write(postgres).then(
        () => false,
        () => true,
      ),
    );
    for (let time = 0; time < 6; time++) {
      await postgres.rows("SELECT * FROM notes").catch(() => {});
      await unavailableInTime(() => write(postgres));
    }
    assert.deepEqual([ups.length, downs.length], [1, 1], downs.join());
    await setReadOnly(server, "off");
    await heals(() => write(postgres));
    assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
  });

  test("further connections is used by those that are open", async (t) => {
    const settings = { max_connections: "6", superuser_reserved_connections: "0", max_wal_senders: "0" };
    const server = await startPostgres(t, { settings });
    const { postgres } = openWatched(t, server.url(), { poolSize: 10 });
    const sleep = "SELECT pg_sleep(0.5)";
    const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => postgres.rows(sleep)));
    assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 6);
    await heals(() => postgres.rows("SELECT 1"));
  });

  test("the password goes on with open connections, and opens others once the password is right again", async (t) => {
    const server = await startPostgres(t, { password: "the first" });
    const { postgres, ups, downs } = openWatched(t, server.url());
    await postgres.rows("SELECT 1");
    await server.query("ALTER USER authserve PASSWORD 'another'");
    await postgres.rows("SELECT 1");
    await server.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authserve'");
    await until(() =>
      postgres.rows("SELECT 1").then(
        () => false,
        () => true,
      ),
    );
    await unavailableInTime(() => postgres.rows("SELECT 1"));
    assert.match(downs.join(), /^password authentication failed|^terminating connection|^Connection terminated/);
    await server.query("ALTER USER authserve PASSWORD 'the first'");
    await heals(() => postgres.rows("SELECT 1"));
    assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
  });
});

async function setReadOnly(server: PostgresServer, value: "on" | "off"): Promise<void> {
  await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await server.query("SELECT pg_reload_conf()");
}

suite("a pool whose connections are all in use", needsPostgres(), () => {
  test("keeps a connection that opens after the operation that waited for it", async (t) => {
    const server = await startPostgres(t);
    const proxy = await hangsAfterLogin(t, server.port);
    const { postgres } = openWatched(t, throughPort(server, proxy.port), { poolSize: 1 });
    const first = unavailableInTime(() => postgres.rows("SELECT 1"));
    await delay(0.6 * TIMEOUT_MS);
    // Gets the connection that is opened after the first one is given up, and gives up itself before that is ready.
    await unavailableInTime(() => postgres.rows("SELECT 1"));
    await first;
    proxy.mend();
    await heals(() => postgres.rows("SELECT 1"));
  });

  test("lets an operation wait for one until the time limit", async (t) => {
    const server = await startPostgres(t);
    const { postgres, downs } = openWatched(t, server.url(), { poolSize: 2 });
    const sleep = (seconds: number) => postgres.rows(`SELECT pg_sleep(${seconds})`);
    const short = [sleep(0.5), sleep(0.5)];
    await postgres.rows("SELECT 1");
    await Promise.all(short);
    const long = [sleep(0.9), sleep(0.9), sleep(0.9), sleep(0.9)];
    await unavailableInTime(() => postgres.rows("SELECT 1"));
    await Promise.allSettled(long);
    await postgres.rows("SELECT 1");
    assert.deepEqual(downs, []);
  });
});
