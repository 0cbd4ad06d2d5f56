import { type PostgresServer, startPostgres } from "../helpers/postgres.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";
import { until } from "../helpers/until.ts";

/** A primary with a synchronous standby, on two ports that stay the same. */
export interface Pair {
  /** Names both hosts. */
  url: string;
  primary(): PostgresServer;
  /** Kills the primary, promotes the standby, and makes a new standby in the place of the old primary. */
  failOver(): Promise<void>;
}

/** Starts a pair. Each commit waits for the standby. */
export async function startPair(context: Cleanup): Promise<Pair> {
  let primary = await startPostgres(context, {
    settings: { synchronous_standby_names: "*", max_connections: "100" },
  });
  let standby = await primary.standby();
  const ports = [primary.port, standby.port];

  const isFollowed = async () =>
    (await primary.query("SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'")).length === 1;
  await until(isFollowed);

  return {
    url: `postgres://authserve@${ports.map((port) => `127.0.0.1:${port}`).join()}/postgres`,
    primary: () => primary,
    async failOver() {
      const { port } = primary;
      await primary.kill();
      await standby.promote();
      primary = standby;
      standby = await primary.standby(port);
      await until(isFollowed);
    },
  };
}
