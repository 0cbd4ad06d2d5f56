import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, suite, test } from "node:test";
import { needsPostgres } from "../../helpers/back-end.ts";
import { type PostgresServer, startPostgres } from "../../helpers/postgres.ts";
import { startLoad } from "../../helpers/postgres-load.ts";
import { SHORT_SERVER_MS } from "../../helpers/postgres-store.ts";
import { startServer } from "../../helpers/server.ts";
import { endOfSuite, PATIENT } from "../../helpers/several-servers.ts";
import { startTarget } from "../../helpers/target.ts";
import { startTcpProxy } from "../../helpers/tcp-proxy.ts";
import { until } from "../../helpers/until.ts";
import { workingDir } from "../../helpers/working-dir.ts";

suite("while PostgreSQL is away, requests are answered 503, and nothing is lost or done twice", needsPostgres(), () => {
  const cleanup = endOfSuite(after);
  let database: PostgresServer;
  before(async () => {
    database = await startPostgres(cleanup);
  });

  const FAULTS: Record<
    string,
    [begin: (database: PostgresServer) => unknown, end: (database: PostgresServer) => unknown]
  > = {
    "it stops, and is started again": [(database) => database.stop("fast"), (database) => database.restart()],
    "it crashes": [(database) => database.stop("immediate"), (database) => database.restart()],
    "all its processes are killed": [(database) => database.kill(), (database) => database.restart()],
  };
  for (const [fault, [begin, end]] of Object.entries(FAULTS)) {
    test(fault, async (t) => {
      const load = await startLoad(t, { url: database.url(await database.createDatabase()) });
      await load.acknowledged(100);
      await begin(database);
      await load.isUnavailable();
      await end(database);
      await load.heals();
      await load.acknowledged(100);
      await load.isComplete();
    });
  }

  test("it hangs", async (t) => {
    t.after(() => database.resume());
    const load = await startLoad(t, { url: database.url(await database.createDatabase()), timeoutMs: SHORT_SERVER_MS });
    await load.acknowledged(100);
    database.pause();
    await load.isUnavailable();
    database.resume();
    await load.heals();
    await load.acknowledged(100);
    await load.isComplete();
  });

  test("the network is cut", async (t) => {
    const proxy = await startTcpProxy(t, database.port);
    const adminUrl = database.url(await database.createDatabase());
    const url = adminUrl.replace(`:${database.port}/`, `:${proxy.port}/`);
    const load = await startLoad(t, { url, adminUrl, timeoutMs: SHORT_SERVER_MS });
    await load.acknowledged(100);
    proxy.cut();
    await load.isUnavailable();
    proxy.mend();
    await load.heals();
    await load.acknowledged(100);
    await load.isComplete();
  });

  test("answers to commits get lost", async (t) => {
    const proxy = await startTcpProxy(t, database.port);
    const adminUrl = database.url(await database.createDatabase());
    const url = adminUrl.replace(`:${database.port}/`, `:${proxy.port}/`);
    const load = await startLoad(t, { url, adminUrl });
    for (let time = 0; time < 10; time++) {
      await load.acknowledged(50);
      const enough = proxy.lost() + 10;
      proxy.loseAnswers();
      await until(() => proxy.lost() >= enough);
      proxy.mend();
    }
    await load.heals();
    await load.isComplete();
  });

  test("it is told to a notifier while the database is down, and so is its end", async (t) => {
    const alerts = await startTarget();
    t.after(() => alerts[Symbol.asyncDispose]());
    const dir = workingDir();
    // By default the alert would wait for a while.
    const yaml = `alerts: { notify: [{ webhook: ${alerts.url} }], notReady: { after: 1s } }\n`;
    writeFileSync(join(dir, "authserve.yaml"), yaml);
    const DATABASE_URL = database.url(await database.createDatabase());
    const server = await startServer({ dir, env: { ...PATIENT, DATABASE_URL } });
    t.after(() => server[Symbol.asyncDispose]());
    const has = (status: string) =>
      alerts.received.some(({ body }) =>
        (JSON.parse(body.toString()) as { alerts: { status: string; labels: Record<string, string> }[] }).alerts.some(
          (alert) => alert.labels.alertname === "AuthserveNotReady" && alert.status === status,
        ),
      );
    await database.stop("fast");
    await until(() => has("firing"));
    await database.restart();
    await until(() => has("resolved"));
  });
});
