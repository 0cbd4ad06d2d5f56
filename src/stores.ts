import { revokeOnCredentialChange } from "./auth/credential-change.ts";
import type { SessionStore } from "./auth/sessions.ts";
import type { ThrottleStore } from "./auth/throttle/store.ts";
import { type RedisSettings, type Settings, usesRedis } from "./config/settings.ts";
import { describeError, SettingsError } from "./errors.ts";
import type { EventStore } from "./events/store.ts";
import { faultOfAuthorities, readPemFile } from "./lib/pem.ts";
import type { Log } from "./log.ts";
import { startThread } from "./platform/checkout.ts";
import type { RedisOptions, RedisServers } from "./redis/client.ts";
import type { RedisConnection, RedisFacts } from "./redis/connection.ts";
import { openForCommand, openForServer } from "./sqlite/open.ts";
import type { SqliteStores } from "./sqlite/stores.ts";
import type { SourceStore } from "./webhook/source-store.ts";

/** The stores. Events and sources are in SQLite; sessions and the throttle are in Redis if the settings name one, else in SQLite. */
export interface Stores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
  sources: SourceStore;
  close(): Promise<void>;
}

/** The stores of a server. */
export interface ServerStores extends Stores {
  /** The size of the database's write-ahead log. */
  logBytes(): number;
}

type CommandSettings = RedisSettings & Pick<Settings, "DATA_DIR">;

/** Opens the stores for a server, the only one on its data directory. Throws `OperatorError` with nothing left open. */
export async function openServerStores(settings: Settings, log: Log): Promise<ServerStores> {
  const { DEMO_USER_ID: userId, DEMO_EMAIL: email, DEMO_PASSWORD: password } = settings;
  const sqlite = await openForServer({
    dataDir: settings.DATA_DIR,
    startThread: (options) => startThread("storage", options),
    log,
  });
  const stores = await withAuthStores(sqlite, settings, log, sqlite.id);
  // An old session in the file would be valid again if the settings stop naming a Redis.
  if (usesRedis(settings)) await sqlite.sessions.remove(userId).catch(() => {});
  const sessions = revokeOnCredentialChange(stores.sessions, { userId, email, passwordHash: password.encoded }, log);
  // Ends sessions that a new password invalidates. The start does not wait for this, because Redis may be down.
  void sessions.check(userId).catch(() => {});
  return { ...stores, sessions, logBytes: sqlite.logBytes };
}

// A server under full load commits all the time. A command waits this long for the lock.
const BUSY_TIMEOUT_MS = 20_000;

/**
 * Opens the stores for a command, with or without a running server. `isOpen` says that this process already has the
 * database open. Throws `OperatorError` with nothing left open.
 */
export function openCommandStores(settings: CommandSettings, log: Log, { isOpen = false } = {}): Promise<Stores> {
  const sqlite = openForCommand(settings.DATA_DIR, { busyTimeoutMs: BUSY_TIMEOUT_MS, isOpen });
  return withAuthStores(sqlite, settings, log);
}

/** Adds the stores of sessions and the throttle, in Redis or SQLite. `server` is the id of a server; commands have none. */
async function withAuthStores(
  sqlite: SqliteStores,
  settings: RedisSettings,
  log: Log,
  server?: string,
): Promise<Stores> {
  const { events, sessions, throttle, sources } = sqlite;
  try {
    const redis = await openRedis(settings, log);
    if (redis === null) return { events, sessions, throttle, sources, close: () => events.close() };
    const { createRedisSessionStore } = await import("./redis/sessions.ts");
    const { createRedisThrottleStore } = await import("./redis/throttle.ts");
    return {
      events,
      sessions: createRedisSessionStore(redis),
      throttle: createRedisThrottleStore(redis, server),
      sources,
      async close() {
        redis.close();
        await events.close();
      },
    };
  } catch (error) {
    await events.close();
    throw error;
  }
}

/** Connects in the background to the Redis that the settings name. Returns null if they name none. */
export async function openRedis(settings: RedisSettings, log: Log): Promise<RedisConnection | null> {
  const servers = redisServers(settings);
  if (servers === null) return null;
  const { connectRedis } = await import("./redis/connection.ts");
  return connectRedis(redisOptions(settings, servers), {
    onUp: (facts) => logRedis(facts, log),
    onDown: (error) =>
      log.warn({ event: "session_store_error", error: describeError(error) }, "Redis does not answer; trying again"),
  });
}

function redisServers(settings: RedisSettings): RedisServers | null {
  const { REDIS_HOST: host, REDIS_PORT: port, REDIS_SENTINELS: sentinels, REDIS_CLUSTER: nodes } = settings;
  if (nodes !== undefined) return { kind: "cluster", nodes };
  if (sentinels !== undefined) {
    const { REDIS_MASTER_NAME: master, REDIS_SENTINEL_PASSWORD: password } = settings;
    return { kind: "sentinels", sentinels, master, password };
  }
  return host === undefined ? null : { kind: "single", address: { host, port } };
}

function redisOptions(settings: RedisSettings, servers: RedisServers): RedisOptions {
  const ca = settings.REDIS_TLS_CA_FILE;
  return {
    servers,
    username: settings.REDIS_USERNAME,
    password: settings.REDIS_PASSWORD,
    db: settings.REDIS_DB,
    tls: settings.REDIS_TLS ? { ca: ca === undefined ? undefined : readAuthorities(ca) } : undefined,
    keyPrefix: settings.REDIS_KEY_PREFIX,
    timeoutMs: settings.REDIS_TIMEOUT,
  };
}

function readAuthorities(file: string): string {
  const pem = readPemFile("REDIS_TLS_CA_FILE", file);
  const fault = faultOfAuthorities(pem);
  if (fault) throw new SettingsError([fault]);
  return pem.toString();
}

function logRedis({ version, evictionPolicy }: RedisFacts, log: Log): void {
  log.info({ event: "session_store_ready", version, evictionPolicy }, `sessions are in ${version ?? "Redis"}`);
  if (evictionPolicy !== null && evictionPolicy !== "noeviction") {
    log.warn(
      { event: "setting_warning" },
      `Redis may evict sessions when its memory is full (maxmemory-policy ${evictionPolicy}): set noeviction`,
    );
  }
}
