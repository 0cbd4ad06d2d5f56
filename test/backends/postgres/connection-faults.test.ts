import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { after, before, suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { needsPgbouncer, needsPostgres } from "../../helpers/back-end.ts";
import { startPgbouncer } from "../../helpers/pgbouncer.ts";
import { openPostgres, type PostgresServer, startPostgres } from "../../helpers/postgres.ts";
import {
  fillPool,
  heals,
  isUp,
  openWatched,
  SHORT_MS,
  unavailable,
  type WatchedPostgres,
} from "../../helpers/postgres-store.ts";
import { endOfSuite } from "../../helpers/several-servers.ts";
import { startTcpProxy } from "../../helpers/tcp-proxy.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { isWell, until } from "../../helpers/until.ts";

const CREATE = "CREATE TABLE notes (text text)";
const write = (postgres: Postgres, text = "") => postgres.run("INSERT INTO notes VALUES ($1)", [text]);
const writeTwice = (postgres: Postgres) =>
  postgres.transaction(async (queries) => {
    await queries.run("INSERT INTO notes VALUES ('first')");
    await queries.run("INSERT INTO notes VALUES ('second')");
  });

/** More operations than connections, some of them on connections of before the fault. */
async function allUnavailable(postgres: Postgres): Promise<void> {
  const operations = [write, writeTwice, (client: Postgres) => client.rows("SELECT * FROM notes")];
  for (let round = 0; round < 2; round++)
    await Promise.all([...operations, ...operations].map((operation) => unavailable(() => operation(postgres))));
}

const throughPort = (url: string, port: number | string) => url.replace(/:\d+\//, `:${port}/`);

const HURRIED = { timeoutMs: SHORT_MS };

const FAULTS: Record<string, (server: PostgresServer) => Promise<void>> = {
  stops: (server) => server.stop("fast"),
  crashes: (server) => server.stop("immediate"),
  "is killed": (server) => server.kill(),
};

/** A proxy that passes the login and its answer, and the statements after it once it is repaired. */
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

async function setReadOnly(server: PostgresServer, value: "on" | "off"): Promise<void> {
  await server.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
  await server.query("SELECT pg_reload_conf()");
}

suite("the connections to a PostgreSQL", needsPostgres(), () => {
  const cleanup = endOfSuite(after);
  let server: PostgresServer;
  before(async () => {
    server = await startPostgres(cleanup);
  });

  /** The URL of a new database on the server that the tests break, and mend. */
  async function newDatabase(statement = "SELECT 1"): Promise<string> {
    const name = await server.createDatabase();
    await server.query(statement, name);
    return server.url(name);
  }

  suite("while PostgreSQL is away, operations fail, the watcher is told once, and then they succeed", () => {
    for (const [fault, begin] of Object.entries(FAULTS)) {
      test(`the server ${fault}`, async (t) => {
        const { postgres, ups, downs } = openWatched(t, await newDatabase());
        await postgres.run(CREATE);
        await fillPool(postgres);
        const during = unavailable(() => postgres.rows("SELECT pg_sleep(600)"));
        await begin(server);
        await allUnavailable(postgres);
        await during;
        assert.equal(downs.length, 1, downs.join());
        await server.restart();
        await heals(() => writeTwice(postgres));
        await fillPool(postgres);
        assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
      });
    }

    /** Breaks a connection for a while in a way that it notices by its time limit only. */
    async function breaksFor(watched: WatchedPostgres, begin: () => unknown, end: () => unknown): Promise<void> {
      await isUp(watched);
      const before = watched.downs.length;
      await begin();
      await allUnavailable(watched.postgres);
      assert.equal(watched.downs.length, before + 1, watched.downs.join());
      await end();
      await heals(() => writeTwice(watched.postgres));
      await isUp(watched);
    }

    test("the server hangs", async (t) => {
      t.after(() => server.resume());
      await breaksFor(openWatched(t, await newDatabase(CREATE), HURRIED), server.pause, server.resume);
    });

    test("the network is cut", async (t) => {
      const proxy = await startTcpProxy(t, server.port);
      const url = throughPort(await newDatabase(CREATE), proxy.port);
      await breaksFor(openWatched(t, url, HURRIED), proxy.cut, proxy.mend);
    });

    test("the server behind a pooler is killed", needsPgbouncer(), async (t) => {
      const { port } = new URL(await startPgbouncer(t, server, ["server_login_retry = 0.1"]));
      const url = throughPort(await newDatabase(CREATE), port);
      await breaksFor(openWatched(t, url, HURRIED), server.kill, server.restart);
    });

    test("the server hangs after each login", async (t) => {
      const { port } = await hangsAfterLogin(t, server.port);
      const { postgres, ups, downs } = openWatched(t, throughPort(await newDatabase(), port), HURRIED);
      await Promise.all(Array.from({ length: 6 }, () => unavailable(() => postgres.rows("SELECT 1"))));
      assert.deepEqual([ups.length, downs.length], [0, 1]);
    });
  });

  suite("a connection to PostgreSQL, closed while the server hangs,", () => {
    test("ends", async (t) => {
      t.after(() => server.resume());
      const closing: (() => unknown)[] = [];
      const context = { after: (end: () => unknown) => void closing.push(end) };
      const watched = openWatched(context, await newDatabase(), HURRIED);
      const { postgres } = watched;
      await isUp(watched);
      server.pause();
      const pending = unavailable(() => postgres.rows("SELECT 1"));
      for (const close of closing) await close();
      await pending;
    });
  });

  suite("an answer to a commit that gets lost", () => {
    test("fails the operation, whose rows are there", async (t) => {
      const proxy = await startTcpProxy(t, server.port);
      const url = await newDatabase();
      const { postgres, downs } = openWatched(t, throughPort(url, proxy.port));
      await postgres.run(CREATE);
      await unavailable(() =>
        postgres.transaction(async (queries) => {
          await queries.run("INSERT INTO notes VALUES ('kept')");
          proxy.loseAnswers();
        }),
      );
      proxy.mend();
      const look = openPostgres(t, url);
      await until(async () => (await look.rows("SELECT text FROM notes")).length === 1);
      assert.equal(downs.length, 1);
      await heals(() => write(postgres));
    });
  });

  suite("a server of PostgreSQL that refuses", () => {
    test("writes, since it became read-only, is down until it accepts them again", async (t) => {
      t.after(() => setReadOnly(server, "off"));
      const { postgres, ups, downs } = openWatched(t, await newDatabase());
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
        await unavailable(() => write(postgres));
      }
      assert.deepEqual([ups.length, downs.length], [1, 1], downs.join());
      await setReadOnly(server, "off");
      await heals(() => write(postgres));
      assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
    });

    test("further connections is used by those that are open", async (t) => {
      const settings = { max_connections: "6", superuser_reserved_connections: "0", max_wal_senders: "0" };
      const full = await startPostgres(t, { settings });
      const { postgres } = openWatched(t, full.url(), { poolSize: 10 });
      const sleep = "SELECT pg_sleep(0.5)";
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => postgres.rows(sleep)));
      const successes = outcomes.filter(({ status }) => status === "fulfilled").length;
      // A connection of the test itself may not have ended yet.
      assert.ok(successes >= 1 && successes <= 6, String(successes));
      await heals(() => postgres.rows("SELECT 1"));
    });

    test("the password goes on with open connections, and opens others once the password is right again", async (t) => {
      const own = await startPostgres(t, { password: "the first" });
      const { postgres, ups, downs } = openWatched(t, own.url());
      await postgres.rows("SELECT 1");
      await own.query("ALTER USER authserve PASSWORD 'another'");
      await postgres.rows("SELECT 1");
      await own.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authserve'");
      await until(() =>
        postgres.rows("SELECT 1").then(
          () => false,
          () => true,
        ),
      );
      await unavailable(() => postgres.rows("SELECT 1"));
      assert.match(downs.join(), /^password authentication failed|^terminating connection|^Connection terminated/);
      await own.query("ALTER USER authserve PASSWORD 'the first'");
      await heals(() => postgres.rows("SELECT 1"));
      assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
    });
  });

  suite("a pool whose connections are all in use", () => {
    test("keeps a connection that opens after the operation that waited for it", async (t) => {
      const proxy = await hangsAfterLogin(t, server.port);
      const url = throughPort(await newDatabase(), proxy.port);
      const { postgres } = openWatched(t, url, { ...HURRIED, poolSize: 1 });
      const first = unavailable(() => postgres.rows("SELECT 1"));
      await delay(0.6 * SHORT_MS);
      // Gets the connection that is opened after the first one is given up, and gives up itself before that is ready.
      await unavailable(() => postgres.rows("SELECT 1"));
      await first;
      proxy.mend();
      await heals(() => postgres.rows("SELECT 1"));
    });

    test("lets an operation wait for one", async (t) => {
      const { postgres } = openWatched(t, await newDatabase(), { poolSize: 2 });
      const sleeps = [1, 2].map(() => postgres.rows("SELECT pg_sleep(0.5)"));
      await postgres.rows("SELECT 1");
      await Promise.all(sleeps);
    });

    test("lets an operation wait until the time limit, and the server that answers others is not away", async (t) => {
      const { postgres, downs } = openWatched(t, await newDatabase(), { ...HURRIED, poolSize: 2 });
      // On a machine that stalls, all of them may be late.
      await until(async () => {
        const before = downs.length;
        // The second two begin when the first two end, and are still running at the time limit.
        const sleeps = [1, 2, 3, 4].map(() => isWell(() => postgres.rows("SELECT pg_sleep(0.6)")));
        const isInTime = await isWell(() => postgres.rows("SELECT 1"));
        return (await Promise.all(sleeps)).join() === "true,true,false,false" && !isInTime && downs.length === before;
      });
    });
  });
});
