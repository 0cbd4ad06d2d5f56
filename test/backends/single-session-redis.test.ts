import { after, before, suite } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { tenPeopleSuite } from "../contract/ten-people.ts";
import { needsAll, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { startRedis } from "../helpers/redis.ts";
import type { Server } from "../helpers/server.ts";
import { endOfSuite, startThree } from "../helpers/several-servers.ts";
import type { Cleanup } from "../helpers/temp-dir.ts";

suite("with PostgreSQL and Redis", needsAll(needsPostgres(), needsRedis()), () => {
  const cleanup = endOfSuite(after);
  let servers: Server[];
  const settingsOf = async (context: Cleanup) => {
    const redis = await startRedis(context);
    return { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) };
  };
  before(async () => {
    servers = await startThree(cleanup, await settingsOf(cleanup));
  });

  singleSessionSuite("Redis with three servers", async () => servers);
  tenPeopleSuite("PostgreSQL and Redis", settingsOf);
});
