import type { RedisConnection } from "../redis/connection.ts";
import type { SessionStore } from "./sessions/store.ts";
import type { ThrottleStore } from "./throttle-store.ts";

/** Where component A keeps its state. */
export interface AuthStores {
  sessions: SessionStore;
  throttle: ThrottleStore;
}

/** Opens the stores of sessions and throttle: on Redis when there is a connection, else the embedded ones. */
export async function openAuthStores(redis: RedisConnection | null, embedded: AuthStores): Promise<AuthStores> {
  if (redis === null) return embedded;
  const { createRedisSessionStore } = await import("./sessions/redis.ts");
  const { createRedisThrottleStore } = await import("./throttle-redis.ts");
  return { sessions: createRedisSessionStore(redis), throttle: createRedisThrottleStore(redis) };
}
