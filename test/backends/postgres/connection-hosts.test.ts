import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Postgres } from "../../../src/postgres/connection.ts";
import { needsPostgres } from "../../helpers/back-end.ts";
import { type PostgresServer, startPostgres } from "../../helpers/postgres.ts";
import { fillPool, heals, isUp, openWatched, SHORT_MS, unavailable } from "../../helpers/postgres-store.ts";
import type { Cleanup } from "../../helpers/temp-dir.ts";
import { isWell, until } from "../../helpers/until.ts";

const urlOf = (...servers: PostgresServer[]) =>
  `postgres://authserve@${servers.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres`;

const write = (postgres: Postgres) => postgres.run("INSERT INTO notes VALUES ('a note')");

/** The port of the server that answers. */
async function portOf(postgres: Postgres): Promise<unknown> {
  return (await postgres.rows("SELECT inet_server_port() AS port"))[0];
}

/** A primary with a table, and a standby that has it, too. */
async function startPair(context: Cleanup): Promise<{ primary: PostgresServer; standby: PostgresServer }> {
  const primary = await startPostgres(context);
  await primary.query("CREATE TABLE notes (text text)");
  return { primary, standby: await primary.standby() };
}

suite("with several hosts of PostgreSQL", needsPostgres(), () => {
  test("a standby, and a host where no server is, are skipped", async (t) => {
    const { primary, standby } = await startPair(t);
    const gone = await primary.standby();
    await gone.kill();
    const { postgres, ups, downs } = openWatched(t, urlOf(gone, standby, primary));
    await write(postgres);
    assert.deepEqual(await portOf(postgres), { port: primary.port });
    assert.deepEqual([ups.length, downs.length], [1, 0]);
  });

  test("the standby is used once it is promoted, after the primary is killed", async (t) => {
    const { primary, standby } = await startPair(t);
    const { postgres, ups, downs } = openWatched(t, urlOf(primary, standby), { poolSize: 8 });
    await write(postgres);
    await fillPool(postgres, 8);
    await primary.kill();
    await unavailable(() => write(postgres));
    await standby.promote();
    await heals(() => write(postgres));
    assert.deepEqual(await portOf(postgres), { port: standby.port });
    assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
  });

  test("the standby is used once it is promoted, after the primary hangs", async (t) => {
    const { primary, standby } = await startPair(t);
    const watched = openWatched(t, urlOf(primary, standby), { poolSize: 8, timeoutMs: SHORT_MS });
    const { postgres, downs } = watched;
    await isUp(watched, 8);
    const before = downs.length;
    primary.pause();
    await unavailable(() => write(postgres));
    assert.equal(downs.length, before + 1, downs.join());
    await standby.promote();
    await heals(async () => assert.deepEqual(await portOf(postgres), { port: standby.port }));
    await heals(() => write(postgres));
    await isUp(watched);
  });

  test("a primary that comes back as a standby is left, and without a primary nothing is written", async (t) => {
    const { primary, standby } = await startPair(t);
    const { postgres, ups, downs } = openWatched(t, urlOf(primary, standby));
    await fillPool(postgres);
    await primary.stop("fast");
    writeFileSync(join(primary.dir, "data", "standby.signal"), "");
    await primary.restart();
    await unavailable(() => write(postgres));
    assert.match(downs.join(), /standby or read-only/);
    await standby.promote();
    await heals(() => write(postgres));
    assert.deepEqual(await portOf(postgres), { port: standby.port });
    assert.deepEqual([ups.length, downs.length], [2, 1], downs.join());
  });

  test("a primary that becomes read-only is left at once, with all its connections", async (t) => {
    const primary = await startPostgres(t);
    const other = await startPostgres(t);
    for (const server of [primary, other]) await server.query("CREATE TABLE notes (text text)");
    const { postgres } = openWatched(t, urlOf(primary, other));
    await fillPool(postgres);
    await primary.query("ALTER SYSTEM SET default_transaction_read_only = on");
    await primary.query("SELECT pg_reload_conf()");
    await until(() =>
      write(postgres).then(
        () => false,
        () => true,
      ),
    );
    for (let time = 0; time < 6; time++) await write(postgres);
    assert.deepEqual(await portOf(postgres), { port: other.port });
  });

  test("a primary whose connections are all in use is not left", async (t) => {
    const primary = await startPostgres(t);
    const other = await startPostgres(t);
    const { postgres, downs } = openWatched(t, urlOf(primary, other), { poolSize: 2, timeoutMs: SHORT_MS });
    // On a machine that stalls, all of them may be late, and the primary may be left.
    await until(async () => {
      const before = downs.length;
      // The second two get their connections after 0.6 s, and end too late.
      const sleeps = [1, 2, 3, 4].map(() => isWell(() => postgres.rows("SELECT pg_sleep(0.6)")));
      const isInTime = await isWell(() => portOf(postgres));
      if ((await Promise.all(sleeps)).join() !== "true,true,false,false" || isInTime) return false;
      const answering = await portOf(postgres).catch(() => null);
      return isDeepStrictEqual(answering, { port: primary.port }) && downs.length === before;
    });
  });

  test("a primary that refuses further connections keeps its open ones", async (t) => {
    const settings = { max_connections: "8", superuser_reserved_connections: "0", max_wal_senders: "2" };
    const primary = await startPostgres(t, { settings });
    const standby = await primary.standby();
    const { postgres } = openWatched(t, urlOf(primary, standby), { poolSize: 12 });
    const ask = () => Array.from({ length: 12 }, () => postgres.rows("SELECT pg_sleep(0.3)"));
    const backends = () =>
      postgres.rows<{ pid: number }>(
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'authserve' ORDER BY pid",
      );
    await Promise.allSettled(ask());
    const before = await backends();
    const outcomes = await Promise.allSettled(ask());
    assert.ok(outcomes.some(({ status }) => status === "rejected"));
    const after = new Set((await backends()).map(({ pid }) => pid));
    assert.ok(
      before.every(({ pid }) => after.has(pid)),
      `${before.length} connections, then ${after.size}`,
    );
  });
});
