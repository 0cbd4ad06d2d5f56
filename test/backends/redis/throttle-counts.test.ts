import { suite } from "node:test";
import { createRedisThrottleStore } from "../../../src/redis/throttle.ts";
import { throttleCountsContract } from "../../contract/throttle-counts.ts";
import { needsRedis } from "../../helpers/back-end.ts";
import { startRedis } from "../../helpers/redis.ts";
import { openOnRedis, single } from "../../helpers/redis-store.ts";

suite("with Redis", needsRedis(), () => {
  throttleCountsContract("Redis", async (t) =>
    createRedisThrottleStore(openOnRedis(t, single(await startRedis(t))).connection),
  );
});
