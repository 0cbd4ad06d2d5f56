import { Redis } from "ioredis";
import { AppError } from "../../errors.ts";
import type { SessionStore } from "./store.ts";

export interface RedisOptions {
  host: string;
  port: number;
  password?: string;
}

const COMMAND_TIMEOUT_MS = 1000;
const KEY_PREFIX = "authserve:session:";

// KEYS[1] the record, ARGV[1] the sid it must still hold. Compare and delete in one step: a login in between stays alive.
const REMOVE_IF = `
if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end
return 0`;

/** Keeps sessions in Redis: one key per user, its value the sid, its expiry the token's lifetime. */
export function createRedisSessionStore(options: RedisOptions, onError: (error: Error) => void): SessionStore {
  const redis = new Redis({
    host: options.host,
    port: options.port,
    ...(options.password ? { password: options.password } : {}),
    commandTimeout: COMMAND_TIMEOUT_MS,
    connectTimeout: COMMAND_TIMEOUT_MS,
    // A command fails at once while there is no connection: an answer of 503 beats a queue without bound.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    retryStrategy: (tries) => Math.min(50 * 2 ** tries, 1000),
  });
  redis.on("error", onError);

  async function ask<T>(command: () => Promise<T>): Promise<T> {
    try {
      if (redis.status === "connecting" || redis.status === "connect") await connected(redis);
      return await command();
    } catch (error) {
      throw new AppError("store_unavailable", { retryAfterSeconds: 2, cause: error });
    }
  }
  const key = (userId: string) => KEY_PREFIX + userId;

  return {
    async replace(userId, sid, ttlSeconds) {
      return (await ask(() => redis.set(key(userId), sid, "EX", ttlSeconds, "GET"))) !== null;
    },
    current(userId) {
      return ask(() => redis.get(key(userId)));
    },
    find(userId) {
      return ask(async () => {
        const [[sidError, sid], [ttlError, ttlMs]] = ((await redis.multi().get(key(userId)).pttl(key(userId)).exec()) ??
          []) as [[Error | null, string | null], [Error | null, number]];
        if (sidError ?? ttlError) throw sidError ?? ttlError;
        return sid === null ? null : { sid, expiresAt: Date.now() + ttlMs };
      });
    },
    async removeIf(userId, sid) {
      return (await ask(() => redis.eval(REMOVE_IF, 1, key(userId), sid))) === 1;
    },
    async remove(userId) {
      return (await ask(() => redis.del(key(userId)))) === 1;
    },
    async check() {
      await ask(() => redis.ping());
    },
    async close() {
      redis.disconnect();
    },
  };
}

/** Waits for the first connection, so that the first command after the start does not fail for being early. */
function connected(redis: Redis): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => finish(new Error("no connection to Redis")), COMMAND_TIMEOUT_MS);
    const onReady = () => finish();
    const onClose = () => finish(new Error("no connection to Redis"));
    function finish(error?: Error) {
      clearTimeout(timer);
      redis.off("ready", onReady);
      redis.off("close", onClose);
      if (error) reject(error);
      else resolve();
    }
    redis.once("ready", onReady);
    redis.once("close", onClose);
  });
}
