import { suite, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { needsPostgres } from "../helpers/back-end.ts";
import { type PostgresServer, startPostgres } from "../helpers/postgres.ts";
import { startLoad } from "../helpers/postgres-load.ts";
import { startTcpProxy } from "../helpers/tcp-proxy.ts";

suite(
  "while PostgreSQL is away, requests are answered 503 in time, and nothing is lost or done twice",
  needsPostgres(),
  () => {
    const FAULTS: Record<
      string,
      [begin: (database: PostgresServer) => unknown, end: (database: PostgresServer) => unknown]
    > = {
      "it stops, and is started again": [(database) => database.stop("fast"), (database) => database.restart()],
      "it crashes": [(database) => database.stop("immediate"), (database) => database.restart()],
      "all its processes are killed": [(database) => database.kill(), (database) => database.restart()],
      "it hangs": [(database) => database.pause(), (database) => database.resume()],
    };
    for (const [fault, [begin, end]] of Object.entries(FAULTS)) {
      test(fault, async (t) => {
        const database = await startPostgres(t);
        const load = await startLoad(t, { url: database.url() });
        await load.acknowledged(100);
        await begin(database);
        await load.isUnavailable();
        await end(database);
        await load.heals();
        await load.acknowledged(100);
        await load.isComplete();
      });
    }

    test("it crashes for a moment only", async (t) => {
      const database = await startPostgres(t);
      const load = await startLoad(t, { url: database.url() });
      for (let time = 0; time < 5; time++) {
        await load.acknowledged(50);
        await database.kill();
        await database.restart();
      }
      await load.heals();
      await load.isComplete();
    });

    test("the network is cut for ten seconds", async (t) => {
      const database = await startPostgres(t);
      const proxy = await startTcpProxy(t, database.port);
      const url = database.url().replace(`:${database.port}/`, `:${proxy.port}/`);
      const load = await startLoad(t, { url, adminUrl: database.url() });
      await load.acknowledged(100);
      proxy.cut();
      await load.isUnavailable();
      await delay(10_000);
      proxy.mend();
      await load.heals();
      await load.acknowledged(100);
      await load.isComplete();
    });

    test("answers to commits get lost", async (t) => {
      const database = await startPostgres(t);
      const proxy = await startTcpProxy(t, database.port);
      const url = database.url().replace(`:${database.port}/`, `:${proxy.port}/`);
      const load = await startLoad(t, { url, adminUrl: database.url() });
      for (let time = 0; time < 10; time++) {
        await load.acknowledged(50);
        proxy.loseAnswers();
        await delay(100);
        proxy.mend();
      }
      await load.heals();
      await load.isComplete();
    });
  },
);
