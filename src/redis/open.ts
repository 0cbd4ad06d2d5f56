import type { Settings } from "../config/settings.ts";
import { describeError, SettingsError } from "../errors.ts";
import type { Log } from "../log.ts";
import { faultOfAuthorities, readPemFile } from "../pem-file.ts";
import type { RedisOptions, RedisServers } from "./client.ts";
import type { RedisConnection, RedisFacts } from "./connection.ts";

export const REDIS_SETTING_NAMES = [
  "REDIS_HOST",
  "REDIS_PORT",
  "REDIS_USERNAME",
  "REDIS_PASSWORD",
  "REDIS_DB",
  "REDIS_TLS",
  "REDIS_TLS_CA_FILE",
  "REDIS_SENTINELS",
  "REDIS_SENTINEL_PASSWORD",
  "REDIS_MASTER_NAME",
  "REDIS_CLUSTER",
  "REDIS_KEY_PREFIX",
  "REDIS_TIMEOUT",
] as const satisfies (keyof Settings)[];

export type RedisSettings = Pick<Settings, (typeof REDIS_SETTING_NAMES)[number]>;

/** Connects to the Redis that the settings name, in the background. Returns null when they name none. */
export async function openRedis(settings: RedisSettings, log: Log): Promise<RedisConnection | null> {
  const servers = serversOf(settings);
  if (servers === null) return null;
  const { connectRedis } = await import("./connection.ts");
  return connectRedis(optionsOf(settings, servers), {
    onUp: (facts) => tellOf(facts, log),
    onDown: (error) =>
      log.warn({ event: "session_store_error", error: describeError(error) }, "Redis does not answer; trying again"),
  });
}

function serversOf(settings: RedisSettings): RedisServers | null {
  const { REDIS_HOST: host, REDIS_PORT: port, REDIS_SENTINELS: sentinels, REDIS_CLUSTER: nodes } = settings;
  if (nodes !== undefined) return { kind: "cluster", nodes };
  if (sentinels !== undefined) {
    const { REDIS_MASTER_NAME: master, REDIS_SENTINEL_PASSWORD: password } = settings;
    return { kind: "sentinels", sentinels, master, password };
  }
  return host === undefined ? null : { kind: "single", address: { host, port } };
}

function optionsOf(settings: RedisSettings, servers: RedisServers): RedisOptions {
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

function tellOf({ version, evictionPolicy }: RedisFacts, log: Log): void {
  log.info({ event: "session_store_ready", version, evictionPolicy }, `sessions are in ${version ?? "Redis"}`);
  if (evictionPolicy !== null && evictionPolicy !== "noeviction") {
    log.warn(
      { event: "setting_warning" },
      `Redis may evict sessions when its memory is full (maxmemory-policy ${evictionPolicy}): set noeviction`,
    );
  }
}
