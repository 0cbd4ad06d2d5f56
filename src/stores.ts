import { hostname } from "node:os";
import { resolve } from "node:path";
import packageJson from "../package.json" with { type: "json" };
import { revokeOnCredentialChange } from "./auth/credential-change.ts";
import type { People } from "./auth/people/people.ts";
import type { LoginNotes, SessionStore } from "./auth/sessions.ts";
import type { ThrottleStore } from "./auth/throttle/store.ts";
import { readEncryptionKeys } from "./config/encryption-keys.ts";
import {
  DATABASE_CA_FILE,
  type DatabaseSettings,
  type RedisSettings,
  type Settings,
  usesRedis,
} from "./config/settings.ts";
import { describeError, SettingsError } from "./errors.ts";
import { type EncryptionStore, missingKeysText } from "./events/encryption.ts";
import type { EventStore } from "./events/store.ts";
import { makeDir } from "./lib/files.ts";
import { faultOfAuthorities, readPemFile } from "./lib/pem.ts";
import { trustSystemAuthorities } from "./lib/system-authorities.ts";
import type { Log } from "./log.ts";
import type { Leases, NodeStore } from "./nodes/store.ts";
import { startThread } from "./platform/checkout.ts";
import type { DatabaseAddress } from "./postgres/address.ts";
import type { PostgresOptions } from "./postgres/connection.ts";
import type { RedisOptions, RedisServers } from "./redis/client.ts";
import type { RedisConnection, RedisFacts } from "./redis/connection.ts";
import { openForCommand, openForServer } from "./sqlite/open.ts";
import type { StoreChecks } from "./storage/faults.ts";
import { encryptionKey } from "./storage/payload-codec.ts";
import type { SmallStores } from "./storage/small-stores.ts";
import { withBoundTimes } from "./webhook/intake/source-times.ts";

/**
 * The stores: in PostgreSQL if the settings name one, else in SQLite. With Redis, sessions and the throttle are there.
 */
export interface Stores extends SmallStores {
  events: EventStore;
  sessions: SessionStore;
  throttle: ThrottleStore;
  encryption: EncryptionStore;
  /** What servers that share the database know of each other. Null with SQLite, which has one server. */
  shared: SharedStores | null;
  /** The clock of the stores, in Unix milliseconds. */
  now(): number;
  close(): Promise<void>;
}

/** The stores of a server. */
export interface ServerStores extends Stores {
  /** Whether the tables of each part can be written. With Redis there is no check of sessions and the throttle. */
  checks: StoreChecks;
  /** The size of SQLite's write-ahead log; 0 with PostgreSQL. */
  logBytes(): number;
  /** When the newest event before the start was received. Null if there was none. */
  newestEventAt: number | null;
}

/** The stores that only several servers on one database need. */
interface SharedStores {
  nodes: NodeStore;
  leases: Leases;
}

type CommandSettings = RedisSettings & DatabaseSettings & Pick<Settings, "DATA_DIR" | "ENCRYPTION_KEYS">;

/** The keys of the settings. Throws {@link SettingsError} if a file cannot be used. */
const keysOf = ({ ENCRYPTION_KEYS: files }: Pick<Settings, "ENCRYPTION_KEYS">) =>
  readEncryptionKeys(files).map(encryptionKey);

/**
 * Opens the stores for a server. A data directory with SQLite has one only. Throws `OperatorError` with nothing left
 * open.
 */
export async function openServerStores(settings: Settings, people: People, log: Log): Promise<ServerStores> {
  const { main, server, checks, logBytes, newestEventAt } = await openMainStores(settings, log);
  const stores = await withAuthStores(main, settings, log, server);
  // An old session in the database would be valid again if the settings stop naming a Redis.
  if (usesRedis(settings)) {
    const ids = [settings.DEMO_USER_ID, ...(await main.people.list()).map(({ id }) => id)];
    for (const id of ids) await main.sessions.remove(id).catch(() => {});
  }
  const sessions = revokeOnCredentialChange(stores.sessions, people, log);
  await warnOfMissingKeys(main.encryption, log);
  // Ends sessions that a new password invalidates. The start does not wait for this, because Redis may be down.
  void sessions.check(settings.DEMO_USER_ID).catch(() => {});
  const { sessions: _sessions, throttle: _throttle, ...others } = checks;
  return {
    ...stores,
    sources: withBoundTimes(stores.sources, stores.now),
    sessions,
    checks: usesRedis(settings) ? others : checks,
    logBytes,
    newestEventAt,
  };
}

async function warnOfMissingKeys(encryption: EncryptionStore, log: Log): Promise<void> {
  const keys = await encryption.missingKeys();
  if (keys.length === 0) return;
  log.error({ event: "encryption_key_missing", keys }, missingKeysText(keys));
}

/** Stores before Redis takes sessions and the throttle. */
type MainStores = Omit<Stores, "close">;

/** Opens the database of a server. `server` is its name among servers that share a throttle. */
async function openMainStores(
  settings: Settings,
  log: Log,
): Promise<{ main: MainStores; server: string } & Pick<ServerStores, "checks" | "logBytes" | "newestEventAt">> {
  const { DATA_DIR: dataDir, DATABASE_URL: address } = settings;
  if (address === undefined) {
    const sqlite = await openForServer({
      dataDir,
      minFreeBytes: settings.MIN_FREE_DISK,
      keys: keysOf(settings),
      startThread: (options) => startThread("storage", options),
      log,
    });
    const { id, checks, logBytes, newestEventAt, ...stores } = sqlite;
    return { main: { ...stores, shared: null, now: Date.now }, server: id, checks, logBytes, newestEventAt };
  }
  const { openForServer: openPostgres } = await import("./postgres/open.ts");
  prepareInstanceDir(dataDir);
  // After a restart on this machine a server releases the attempts of its predecessor.
  const server = `${hostname()} ${resolve(dataDir)}`;
  const { newestEventAt, checks, ...stores } = await openPostgres({
    connection: postgresOptions(settings, address),
    log,
    server,
    version: packageJson.version,
    waitMs: settings.DATABASE_WAIT,
    keys: keysOf(settings),
  });
  return { main: { ...stores, shared: stores }, server, checks, logBytes: () => 0, newestEventAt };
}

/** Makes the folder of `server.json`. If that fails, so does the write of the file, which is logged then. */
function prepareInstanceDir(dataDir: string): void {
  try {
    makeDir(resolve(dataDir));
  } catch {}
}

// A server under full load commits all the time. A command waits this long for the lock.
const BUSY_TIMEOUT_MS = 20_000;

/**
 * Opens the stores for a command, with or without a running server. `isOpen` says that this process already has the
 * database open. Throws `OperatorError` with nothing left open.
 */
export async function openCommandStores(settings: CommandSettings, log: Log, { isOpen = false } = {}): Promise<Stores> {
  const { DATABASE_URL: address } = settings;
  if (address === undefined) {
    const sqlite = openForCommand(settings.DATA_DIR, { busyTimeoutMs: BUSY_TIMEOUT_MS, isOpen, log }, keysOf(settings));
    return withAuthStores({ ...sqlite, shared: null, now: Date.now }, settings, log);
  }
  const { openForCommand: openPostgres } = await import("./postgres/open.ts");
  const main = await openPostgres({ connection: postgresOptions(settings, address), log, keys: keysOf(settings) });
  return withAuthStores({ ...main, shared: main }, settings, log);
}

/**
 * Adds the stores of sessions and the throttle, which may be in Redis. `server` is the name of a server; commands have
 * none.
 */
async function withAuthStores(
  { sessions, throttle, ...others }: MainStores,
  settings: RedisSettings,
  log: Log,
  server?: string,
): Promise<Stores> {
  const { events } = others;
  try {
    const redis = await openRedis(settings, log);
    if (redis === null) return { ...others, sessions, throttle, close: () => events.close() };
    const { createRedisSessionStore } = await import("./redis/sessions.ts");
    const { createRedisThrottleStore } = await import("./redis/throttle.ts");
    const inRedis = createRedisThrottleStore(redis, server);
    const writer = {
      async before({ login, knownBucket }: LoginNotes) {
        if (knownBucket !== null) await inRedis.remember(knownBucket, login.at);
      },
      after: ({ login, account }: LoginNotes) => others.factors.addLogin(account, login),
    };
    return {
      ...others,
      sessions: createRedisSessionStore(redis, writer),
      throttle: inRedis,
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

/** How to connect to the PostgreSQL at an address. */
export function postgresOptions(
  { DATABASE_POOL_SIZE: poolSize, DATABASE_TIMEOUT: timeoutMs }: DatabaseSettings,
  { tls, caFile, ...address }: DatabaseAddress,
): PostgresOptions {
  const { hosts, user, password, database } = address;
  const options = { hosts, user, password, database, poolSize, timeoutMs };
  if (tls === "off") return options;
  if (tls === "encrypted") return { ...options, tls: { rejectUnauthorized: false } };
  const ca = caFile === undefined ? undefined : readAuthorities(DATABASE_CA_FILE, caFile);
  if (ca === undefined) trustSystemAuthorities();
  return { ...options, tls: { ca, rejectUnauthorized: true } };
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
    tls: settings.REDIS_TLS
      ? { ca: ca === undefined ? undefined : readAuthorities("REDIS_TLS_CA_FILE", ca) }
      : undefined,
    keyPrefix: settings.REDIS_KEY_PREFIX,
    timeoutMs: settings.REDIS_TIMEOUT,
  };
}

/** Reads the PEM certificates of a file that a setting names. */
function readAuthorities(name: string, file: string): string {
  const pem = readPemFile(name, file);
  const fault = faultOfAuthorities(name, pem);
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
