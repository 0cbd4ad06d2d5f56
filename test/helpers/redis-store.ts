import assert from "node:assert/strict";
import type { SessionStore } from "../../src/auth/sessions.ts";
import type { RedisOptions, RedisServers } from "../../src/redis/client.ts";
import { connectRedis, type RedisConnection, type RedisFacts } from "../../src/redis/connection.ts";
import { createRedisSessionStore, NO_NOTES } from "../../src/redis/sessions.ts";
import { failsWith } from "./fails-with.ts";
import type { RedisProcess } from "./redis.ts";
import type { Cleanup } from "./temp-dir.ts";
import { HANG_MS, isWell, until } from "./until.ts";

/** A time limit for operations that are to fail. On a machine that stalls others fail, too, and are tried again. */
export const SHORT_MS = 1000;

export interface OpenedStore {
  store: SessionStore;
  connection: RedisConnection;
  ups: RedisFacts[];
  downs: string[];
}

/** Opens a store. Its time limit is for what hangs, unless one is given. */
export function openOnRedis(context: Cleanup, servers: RedisServers, options: Partial<RedisOptions> = {}): OpenedStore {
  const ups: RedisFacts[] = [];
  const downs: string[] = [];
  const connection = connectRedis(
    { servers, keyPrefix: "authserve:", timeoutMs: HANG_MS, ...options },
    { onUp: (facts) => void ups.push(facts), onDown: (error) => void downs.push(error.message) },
  );
  context.after(() => connection.close());
  return { store: createRedisSessionStore(connection, NO_NOTES), connection, ups, downs };
}

export const addressOf = ({ port }: RedisProcess) => ({ host: "127.0.0.1", port });
export const single = (server: RedisProcess): RedisServers => ({ kind: "single", address: addressOf(server) });
export const cluster = (nodes: RedisProcess[]): RedisServers => ({ kind: "cluster", nodes: nodes.map(addressOf) });

/** Asserts that an operation fails as unavailable. One without a time limit would hang. */
export async function unavailable(operation: () => Promise<unknown>): Promise<void> {
  const error = await failsWith("store_unavailable", operation());
  assert.ok(Number.isInteger(error.retryAfterSeconds));
}

/** The same for every operation of a store. None of them would end the session of user 1. */
export async function allUnavailable(store: SessionStore): Promise<void> {
  await Promise.all([
    unavailable(() => store.current("1")),
    unavailable(() => store.find("1")),
    unavailable(() => store.supersession("1", "never")),
    unavailable(() => store.replace("2", "never", 60)),
    unavailable(() => store.registerDevice("1", "never", "{}")),
    unavailable(() => store.proveDevice("1", "never", 1, 1)),
    unavailable(() => store.removeIf("1", "never")),
    unavailable(() => store.remove("2")),
    unavailable(() => store.bind("2", "never")),
    unavailable(() => store.check("1")),
  ]);
}

/** Waits for a store to answer again. */
export async function heals(store: SessionStore): Promise<void> {
  await until(() => isWell(() => store.check("1")));
}
