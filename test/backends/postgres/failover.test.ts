import { suite, test } from "node:test";
import { needsPostgres } from "../../helpers/back-end.ts";
import { startPostgres } from "../../helpers/postgres.ts";
import { startLoad } from "../../helpers/postgres-load.ts";
import { until } from "../../helpers/until.ts";

suite("a server with several hosts in DATABASE_URL", needsPostgres(), () => {
  test("goes on with the standby that is promoted when the primary is killed, and loses nothing", async (t) => {
    const primary = await startPostgres(t);
    const standby = await primary.standby();
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query("SELECT pg_reload_conf()");
    await until(
      async () => (await primary.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 1,
    );
    // The standby is the first one: it is skipped as long as it accepts no writes.
    const url = `postgres://authserve@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres`;
    const load = await startLoad(t, { url, adminUrl: standby.url() });
    await load.acknowledged(200);
    await primary.kill();
    await load.isUnavailable();
    await standby.query("SELECT 1");
    await standby.promote();
    await load.heals();
    await load.acknowledged(100);
    await load.isComplete();
  });
});
