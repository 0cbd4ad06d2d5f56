import { after, before, suite } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { needsAll, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { startRedis } from "../helpers/redis.ts";
import type { Server } from "../helpers/server.ts";
import { endOfSuite, startThree } from "../helpers/several-servers.ts";

suite("with PostgreSQL and Redis", needsAll(needsPostgres(), needsRedis()), () => {
  const cleanup = endOfSuite(after);
  let servers: Server[];
  before(async () => {
    const redis = await startRedis(cleanup);
    servers = await startThree(cleanup, { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) });
  });

  singleSessionSuite("Redis with three servers", async () => servers);
});
