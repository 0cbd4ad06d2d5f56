import type { RedisConnection } from "../redis/connection.ts";
import type { SessionStore } from "./sessions/store.ts";

/** Opens the session store: on Redis when there is a connection, else the embedded one. */
export async function openSessionStore(redis: RedisConnection | null, embedded: SessionStore): Promise<SessionStore> {
  if (redis === null) return embedded;
  const { createRedisSessionStore } = await import("./sessions/redis.ts");
  return createRedisSessionStore(redis);
}
