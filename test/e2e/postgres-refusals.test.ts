import assert from "node:assert/strict";
import { chmodSync, chownSync, mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { Client } from "pg";
import { NOBODY, needsMount, needsPostgres } from "../helpers/back-end.ts";
import { type PostgresServer, startPostgres } from "../helpers/postgres.ts";
import { startLoad } from "../helpers/postgres-load.ts";
import { fill, mountDisk } from "../helpers/small-disk.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";
import { workingDir } from "../helpers/working-dir.ts";

/** Connections that do nothing else. */
async function holdConnections(t: Cleanup, database: PostgresServer, count: number): Promise<() => Promise<void>> {
  const clients = Array.from({ length: count }, () => new Client({ connectionString: database.url() }));
  for (const client of clients) client.on("error", () => {});
  const free = async () => void (await Promise.allSettled(clients.map((client) => client.end())));
  t.after(free);
  await Promise.all(clients.map((client) => client.connect()));
  return free;
}

const END_OTHERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'authserve'";

suite(
  "while PostgreSQL refuses, requests are answered 503 in time, and nothing is lost or done twice",
  needsPostgres(),
  () => {
    test("it is read-only", async (t) => {
      const database = await startPostgres(t);
      const load = await startLoad(t, { url: database.url() });
      const setReadOnly = async (value: "on" | "off") => {
        await database.query(`ALTER SYSTEM SET default_transaction_read_only = ${value}`);
        await database.query("SELECT pg_reload_conf()");
      };
      await load.acknowledged(100);
      await setReadOnly("on");
      await load.isUnavailable();
      await setReadOnly("off");
      await load.heals();
      await load.isComplete();
    });

    test("another session locks the tables, and all connections wait", async (t) => {
      const database = await startPostgres(t);
      const load = await startLoad(t, { url: database.url(), env: { DATABASE_POOL_SIZE: "3" } });
      await load.acknowledged(100);
      const other = new Client({ connectionString: database.url() });
      await other.connect();
      other.on("error", () => {});
      t.after(() => other.end().catch(() => {}));
      await other.query("BEGIN; LOCK TABLE authserve.events, authserve.sessions");
      await load.isUnavailable();
      await other.query("COMMIT");
      await load.heals();
      await load.isComplete();
    });

    test("it has no connection left", async (t) => {
      const database = await startPostgres(t, {
        settings: { max_connections: "13", superuser_reserved_connections: "0" },
      });
      const load = await startLoad(t, { url: database.url() });
      await load.acknowledged(100);
      // The connections of the server end, and others take their places.
      let free = async () => {};
      await until(async () => {
        await free();
        await database.query(END_OTHERS);
        free = await holdConnections(t, database, 13).catch(() => async () => {});
        const count = await database.query("SELECT 1").then(
          () => false,
          () => true,
        );
        return count;
      }, 10_000);
      await load.isUnavailable();
      await free();
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
      await until(
        async () => load.server.log("request_failed").some(({ error }) => /53100/.test(String(error))),
        20_000,
      );
      assert.equal((await load.server.run(["doctor"])).code, 1);
      rmSync(filler);
      await load.heals();
      await load.isComplete();
    });
  },
);
