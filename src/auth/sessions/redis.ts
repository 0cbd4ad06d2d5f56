import type { RedisConnection } from "../../redis/connection.ts";
import type { SessionStore } from "./store.ts";

// KEYS[1] the record, ARGV the new sid and its lifetime in seconds. `SET … GET` would need Redis 6.2.
const REPLACE = `
local old = redis.call("GET", KEYS[1])
redis.call("SET", KEYS[1], ARGV[1], "EX", ARGV[2])
return old and 1 or 0`;

const FIND = `return { redis.call("GET", KEYS[1]), redis.call("PTTL", KEYS[1]) }`;

// ARGV[1] the sid that the record must still hold: a login in between stays alive.
const REMOVE_IF = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

/** Keeps sessions in Redis: one key per user, its value the sid, its expiry the token's lifetime. */
export function createRedisSessionStore(redis: RedisConnection): SessionStore {
  const key = (userId: string) => `${redis.keyPrefix}session:${userId}`;

  return {
    async replace(userId, sid, ttlSeconds) {
      return (await redis.ask((client) => client.eval(REPLACE, 1, key(userId), sid, ttlSeconds))) === 1;
    },
    current(userId) {
      return redis.ask((client) => client.get(key(userId)));
    },
    async find(userId) {
      const [sid, ttlMs] = (await redis.ask((client) => client.eval(FIND, 1, key(userId)))) as [string | null, number];
      return sid === null ? null : { sid, expiresAt: Date.now() + ttlMs };
    },
    async removeIf(userId, sid) {
      return (await redis.ask((client) => client.eval(REMOVE_IF, 1, key(userId), sid))) === 1;
    },
    async remove(userId) {
      return (await redis.ask((client) => client.del(key(userId)))) === 1;
    },
    async check() {
      await redis.ask((client) => client.ping());
    },
    // The connection belongs to whoever opened it.
    async close() {},
  };
}
