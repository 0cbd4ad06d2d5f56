import { suite } from "node:test";
import { singleSessionSuite } from "../contract/single-session.ts";
import { needsAll, needsPostgres, needsRedis } from "../helpers/back-end.ts";
import { startRedis } from "../helpers/redis.ts";
import { startThree } from "../helpers/several-servers.ts";

suite("with PostgreSQL and Redis", needsAll(needsPostgres(), needsRedis()), () => {
  singleSessionSuite("Redis with three servers", async (t) => {
    const redis = await startRedis(t);
    return startThree(t, { REDIS_HOST: "127.0.0.1", REDIS_PORT: String(redis.port) });
  });
});
