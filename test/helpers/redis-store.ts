import assert from "node:assert/strict";
import type { SessionStore } from "../../src/auth/sessions.ts";
import type { RedisOptions, RedisServers } from "../../src/redis/client.ts";
import { connectRedis, type RedisConnection, type RedisFacts } from "../../src/redis/connection.ts";
import { createRedisSessionStore } from "../../src/redis/sessions.ts";
import { failsWith } from "./fails-with.ts";
import type { RedisProcess } from "./redis.ts";
import type { Cleanup } from "./temp-dir.ts";
import { isWell, until } from "./until.ts";

export const TIMEOUT_MS = 1000;
// Extra time on a busy machine.
const SLACK_MS = 500;
export const HEALS_WITHIN_MS = 2000;

export interface OpenedStore {
  store: SessionStore;
  connection: RedisConnection;
  ups: RedisFacts[];
  downs: string[];
}

export function openOnRedis(context: Cleanup, servers: RedisServers, options: Partial<RedisOptions> = {}): OpenedStore {
  const ups: RedisFacts[] = [];
  const downs: string[] = [];
  const connection = connectRedis(
    { servers, keyPrefix: "authserve:", timeoutMs: TIMEOUT_MS, ...options },
    { onUp: (facts) => void ups.push(facts), onDown: (error) => void downs.push(error.message) },
  );
  context.after(() => connection.close());
  return { store: createRedisSessionStore(connection), connection, ups, downs };
}

export const addressOf = ({ port }: RedisProcess) => ({ host: "127.0.0.1", port });
export const single = (server: RedisProcess): RedisServers => ({ kind: "single", address: addressOf(server) });
export const cluster = (nodes: RedisProcess[]): RedisServers => ({ kind: "cluster", nodes: nodes.map(addressOf) });

/** Asserts that an operation fails as unavailable within the time limit. */
export async function unavailableInTime(operation: () => Promise<unknown>): Promise<void> {
  const startedAt = performance.now();
  const error = await failsWith("store_unavailable", operation());
  const tookMs = performance.now() - startedAt;
  assert.ok(tookMs < TIMEOUT_MS + SLACK_MS, `took ${Math.round(tookMs)} ms`);
  assert.ok(Number.isInteger(error.retryAfterSeconds));
}

/** The same for every operation of a store. None of them would end the session of user 1. */
export async function allUnavailableInTime(store: SessionStore): Promise<void> {
  await Promise.all([
    unavailableInTime(() => store.current("1")),
    unavailableInTime(() => store.find("1")),
    unavailableInTime(() => store.supersession("1", "never")),
    unavailableInTime(() => store.replace("2", "never", 60)),
    unavailableInTime(() => store.removeIf("1", "never")),
    unavailableInTime(() => store.remove("2")),
    unavailableInTime(() => store.bind("2", "never")),
    unavailableInTime(() => store.check("1")),
  ]);
}

/** Waits for a store to answer again. */
export async function heals(store: SessionStore, withinMs = HEALS_WITHIN_MS): Promise<void> {
  await until(() => isWell(() => store.check("1")), withinMs);
}
