import { type Cluster, Redis } from "ioredis";
import { trustSystemAuthorities } from "../lib/system-authorities.ts";
import { nameHosts, OnceCluster } from "./cluster.ts";
import { watchSentinels } from "./sentinels.ts";

export interface RedisAddress {
  host: string;
  port: number;
}

/** Which servers to connect to: one, the master that sentinels name, or a cluster by some of its nodes. */
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
  /** TLS with the system's authorities, or with these PEM certificates as the only ones. */
  tls?: { ca?: string | undefined } | undefined;
  /** Stands before every key. */
  keyPrefix: string;
  /** No operation takes longer than this; beyond it the answer is `store_unavailable`. */
  timeoutMs: number;
}

const RETRY_FIRST_MS = 50;
/** The longest wait before the next try to connect. */
export const RETRY_MAX_MS = 500;
// A server that hangs never acknowledges the end of a connection.
const DISCONNECT_MS = 50;

export interface OpenedClient {
  /** The driver's, which connects again by itself after each outage. */
  client: Redis | Cluster;
  /** Ends it and all that belongs to it. */
  close(): void;
}

/** Connects in the background. */
export function openClient(options: RedisOptions): OpenedClient {
  const { servers, tls } = options;
  if (tls && tls.ca === undefined) trustSystemAuthorities();
  if (servers.kind === "sentinels") return openBehindSentinels(servers, options);
  const client =
    servers.kind === "single"
      ? new Redis({ ...toOneServer(options), ...servers.address })
      : openCluster(servers, options);
  return { client, close: () => client.disconnect() };
}

function openCluster({ nodes }: Extract<RedisServers, { kind: "cluster" }>, options: RedisOptions): Cluster {
  const cluster = new OnceCluster(nodes, {
    redisOptions: { ...overConnection(options), ...asUser(options) },
    enableOfflineQueue: false,
    clusterRetryStrategy: backoff,
    slotsRefreshTimeout: options.timeoutMs,
    // Host names stay as they are announced, for the certificates to match them.
    dnsLookup: (address, callback) => callback(null, address),
  });
  nameHosts(cluster);
  return cluster;
}

function openBehindSentinels(
  { sentinels, master, password }: Extract<RedisServers, { kind: "sentinels" }>,
  options: RedisOptions,
): OpenedClient {
  const connection = overConnection(options);
  const watch = watchSentinels(sentinels, master, { ...connection, ...(password === undefined ? {} : { password }) });
  const client = new Redis({
    ...toOneServer(options),
    ...watch.driverOptions,
    sentinels,
    name: master,
    sentinelRetryStrategy: backoff,
    sentinelCommandTimeout: options.timeoutMs,
    ...(password === undefined ? {} : { sentinelPassword: password }),
    ...("tls" in connection ? { enableTLSForSentinelMode: true, sentinelTLS: connection.tls } : {}),
  });
  // They name the new master up to ten seconds before the old one learns that it is none: what it took would be lost.
  watch.onNewMaster(() => client.disconnect(true));
  return {
    client,
    close() {
      watch.close();
      client.disconnect();
    },
  };
}

/** How long to wait before the next try to connect. */
function backoff(tries: number): number {
  return Math.min(RETRY_FIRST_MS * 2 ** (tries - 1), RETRY_MAX_MS);
}

/** What every connection is made with, to sentinels too. */
function overConnection({ tls, timeoutMs }: RedisOptions) {
  return {
    ...(tls === undefined ? {} : { tls: tls.ca === undefined ? {} : { ca: tls.ca } }),
    commandTimeout: timeoutMs,
    connectTimeout: timeoutMs,
    disconnectTimeout: DISCONNECT_MS,
    // A connection that has gone silent is given up, and with it the commands that wait on it.
    socketTimeout: timeoutMs,
    // `admit` reads INFO and judges it.
    enableReadyCheck: false,
    // A command fails while there is no connection, and is never sent again: it may have been done the first time.
    enableOfflineQueue: false,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    disableClientInfo: true,
  };
}

function asUser({ username, password }: RedisOptions) {
  return {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
  };
}

function toOneServer(options: RedisOptions) {
  return {
    ...overConnection(options),
    ...asUser(options),
    ...(options.db === undefined ? {} : { db: options.db }),
    retryStrategy: backoff,
    // After a failover the old address may lead to a replica: connecting again finds the new master.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  };
}
