import { suite } from "node:test";
import { createRedisThrottleStore } from "../../src/redis/throttle.ts";
import { createSqliteThrottleStore } from "../../src/sqlite/throttle.ts";
import { throttleCountsContract } from "../contract/throttle-counts.ts";
import { needsRedis } from "../helpers/back-end.ts";
import { tempDatabase } from "../helpers/database.ts";
import { startRedis } from "../helpers/redis.ts";
import { openOnRedis, single } from "../helpers/redis-store.ts";

throttleCountsContract("SQLite", async (t) => createSqliteThrottleStore(tempDatabase(t).database));

suite("with Redis", needsRedis(), () => {
  throttleCountsContract("Redis", async (t) =>
    createRedisThrottleStore(openOnRedis(t, single(await startRedis(t))).connection),
  );
});
