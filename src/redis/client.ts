import { type Cluster, Redis } from "ioredis";
import { OnceCluster } from "./once-cluster.ts";

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

/** Creates the driver's client, which connects by itself and again after each outage. */
export function createClient({ servers, username, password, db, tls, timeoutMs }: RedisOptions): Redis | Cluster {
  const backoff = (tries: number) => Math.min(RETRY_FIRST_MS * 2 ** (tries - 1), RETRY_MAX_MS);
  const common = {
    ...(username === undefined ? {} : { username }),
    ...(password === undefined ? {} : { password }),
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
  if (servers.kind === "cluster") {
    return new OnceCluster(servers.nodes, {
      redisOptions: common,
      enableOfflineQueue: false,
      clusterRetryStrategy: backoff,
      slotsRefreshTimeout: timeoutMs,
      // Host names stay as they are announced, for the certificates to match them.
      dnsLookup: (address, callback) => callback(null, address),
    });
  }
  const single = {
    ...common,
    ...(db === undefined ? {} : { db }),
    retryStrategy: backoff,
    // After a failover the old address may lead to a replica: connecting again finds the new master.
    reconnectOnError: (error: Error) => error.message.includes("READONLY"),
  };
  if (servers.kind === "single") return new Redis({ ...single, ...servers.address });
  return new Redis({
    ...single,
    sentinels: servers.sentinels,
    name: servers.master,
    sentinelRetryStrategy: backoff,
    // They name the new master up to ten seconds before the old one learns that it is none: what it took would be lost.
    failoverDetector: true,
    sentinelCommandTimeout: timeoutMs,
    ...(servers.password === undefined ? {} : { sentinelPassword: servers.password }),
    ...("tls" in single ? { enableTLSForSentinelMode: true, sentinelTLS: single.tls } : {}),
  });
}
