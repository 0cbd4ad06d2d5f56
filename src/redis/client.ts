import { type Cluster, Redis } from "ioredis";
import { trustSystemAuthorities } from "../lib/system-authorities.ts";
import { AtMostOnceCluster, fillInHosts } from "./cluster.ts";
import { watchSentinels } from "./sentinels.ts";

export interface RedisAddress {
  host: string;
  port: number;
}

/** The servers to connect to: one server, the master that sentinels name, or a cluster by some of its nodes. */
export type RedisServers =
  | { kind: "single"; address: RedisAddress }
  | { kind: "sentinels"; sentinels: RedisAddress[]; master: string; password?: string | undefined }
  | { kind: "cluster"; nodes: RedisAddress[] };

/** How to connect to Redis. */
export interface RedisOptions {
  servers: RedisServers;
  username?: string | undefined;
  password?: string | undefined;
  db?: number | undefined;
  /** Use TLS. Trust the system's authorities, or if `ca` is given only these PEM certificates. */
  tls?: { ca?: string | undefined } | undefined;
  /** Prefix of every key. */
  keyPrefix: string;
  /** After this time an operation fails with `store_unavailable`. */
  timeoutMs: number;
}

const RETRY_FIRST_MS = 50;
/** The longest wait before the next attempt to connect. */
export const RETRY_MAX_MS = 500;
// How long to wait for the end of a connection: a server that hangs never acknowledges it.
const DISCONNECT_MS = 50;

interface OpenedClient {
  /** The driver's client. It reconnects after each outage. */
  client: Redis | Cluster;
  /** Closes the client and its sentinel connections. */
  close(): void;
}

/** Connects in the background. */
export function openClient(options: RedisOptions): OpenedClient {
  const { servers, tls } = options;
  if (tls && tls.ca === undefined) trustSystemAuthorities();
  if (servers.kind === "sentinels") return openWithSentinels(servers, options);
  const client =
    servers.kind === "single"
      ? new Redis({ ...singleServerOptions(options), ...servers.address })
      : openCluster(servers, options);
  return { client, close: () => client.disconnect() };
}

function openCluster({ nodes }: Extract<RedisServers, { kind: "cluster" }>, options: RedisOptions): Cluster {
  const cluster = new AtMostOnceCluster(nodes, {
    redisOptions: { ...connectionOptions(options), ...credentials(options) },
    enableOfflineQueue: false,
    clusterRetryStrategy: backoff,
    slotsRefreshTimeout: options.timeoutMs,
    // Connect by the announced host names: certificates must match them.
    dnsLookup: (address, callback) => callback(null, address),
  });
  fillInHosts(cluster);
  return cluster;
}

function openWithSentinels(
  { sentinels, master, password }: Extract<RedisServers, { kind: "sentinels" }>,
  options: RedisOptions,
): OpenedClient {
  const connection = connectionOptions(options);
  const watch = watchSentinels(sentinels, master, { ...connection, ...(password === undefined ? {} : { password }) });
  const client = new Redis({
    ...singleServerOptions(options),
    ...watch.driverOptions,
    sentinels,
    name: master,
    sentinelRetryStrategy: backoff,
    sentinelCommandTimeout: options.timeoutMs,
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...("tls" in connection ? { enableTLSForSentinelMode: true, sentinelTLS: connection.tls } : {}),
  });
  // The old master learns of a failover up to 10 s later than the sentinels. It would lose what it accepts until then.
  watch.onNewMaster(() => client.disconnect(true));
  return {
    client,
    close() {
      watch.close();
      client.disconnect();
    },
  };
}

/** The wait before the next attempt to connect. */
function backoff(tries: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** (tries - 1), RETRY_MAX_MS);
}

/** The options of every connection, also to sentinels. */
function connectionOptions({ tls, timeoutMs }: RedisOptions) {
  return {
    ...(tls === undefined ? {} : { tls: tls.ca === undefined ? {} : { ca: tls.ca } }),
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    disconnectTimeout: DISCONNECT_MS,
    // Closes a silent connection and fails the commands that wait on it.
    socketTimeout: timeoutMs,
    // `admit` checks INFO instead.
    enableReadyCheck: false,
    // Without a connection a command fails. It is never resent, because it may have been executed.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  };
}

function credentials({ username, password }: RedisOptions) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

function singleServerOptions(options: RedisOptions) {
  return {
    ...connectionOptions(options),
    ...credentials(options),
    ...(options.db === undefined ? {} : { db: options.db }),
    retryStrategy: backoff,
    // After a failover the old address may be a replica. Reconnecting finds the new master.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  };
}
