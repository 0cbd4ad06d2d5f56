import { suite } from "node:test";
import { createRedisThrottleStore } from "../../src/auth/throttle-redis.ts";
import { createSqliteThrottleStore } from "../../src/auth/throttle-sqlite.ts";
import { throttleCountsContract } from "../contract/throttle-counts.ts";
import { tempDatabase } from "../helpers/database.ts";
import { skipWithoutRedis, startRedis } from "../helpers/redis.ts";
import { openOnRedis, single } from "../helpers/redis-store.ts";

throttleCountsContract("SQLite", async (t) => createSqliteThrottleStore(tempDatabase(t).database));

suite("with Redis", { skip: skipWithoutRedis() }, () => {
  throttleCountsContract("Redis", async (t) =>
    createRedisThrottleStore(openOnRedis(t, single(await startRedis(t))).connection),
  );
});
