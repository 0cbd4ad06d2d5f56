import { Cluster, Redis, ReplyError } from "ioredis";
import { AppError } from "../errors.ts";
import { retry } from "../lib/retry.ts";
import { openClient, RETRY_MAX_MS, type RedisOptions } from "./client.ts";
import { isRefusedForNow } from "./cluster.ts";

const REFUSED_RETRY_MS = 100;

/** Facts from INFO. Null where this user may not run it. */
export interface RedisFacts {
  version: string | null;
  evictionPolicy: string | null;
}

/** Listens for outages of Redis. */
interface RedisWatcher {
  /** Called when Redis answers, at the start and after each outage. */
  onUp(facts: RedisFacts): void;
  /** Called once for each outage. */
  onDown(reason: Error): void;
}

/** The commands that the adapters use. */
type RedisCommands = Pick<Redis, "get" | "set" | "del" | "eval" | "ping" | "zrange">;

/** Whether Redis answered with an error, so that the command was certainly not executed. */
export function isRefused(error: unknown): boolean {
  return error instanceof AppError && error.cause instanceof ReplyError;
}

/** Connects in the background. An earlier operation waits for the connection until its timeout. */
export function connectRedis(options: RedisOptions, watcher: RedisWatcher) {
  const { timeoutMs } = options;
  const isCluster = options.servers.kind === "cluster";
  const { client, close } = openClient(options);
  let isUp = false;
  let isClosed = false;
  let outageReported = false;
  /** Why the last connection failed, when the driver said so. */
  let failure: Error | undefined;
  let ended = 0;
  let connecting = nextConnection();

  function reportOutage(reason: Error): void {
    if (outageReported || isClosed) return;
    outageReported = true;
    watcher.onDown(reason);
  }

  /** Fails the operations that wait for a connection. */
  function failWaiting(reason: Error): void {
    reportOutage(reason);
    connecting.reject(reason);
    connecting = nextConnection();
  }

  function onClose(): void {
    ended++;
    isUp = false;
    failWaiting(failure ?? new Error("the connection to Redis is closed"));
    failure = undefined;
  }

  async function admit(): Promise<void> {
    const before = ended;
    try {
      // If the driver may not select this database, it silently stays on database 0.
      if (client instanceof Redis && options.db) await client.select(options.db);
      const info = await readInfo(client);
      if (before !== ended) return;
      // A cluster sends each command to a master that serves its slot.
      if (!isCluster) assertUsable(info);
      isUp = true;
      outageReported = false;
      failure = undefined;
      watcher.onUp(factsOf(info));
      connecting.resolve();
    } catch (error) {
      if (before !== ended || isClosed) return;
      failure = error as Error;
      failWaiting(failure);
      setTimeout(() => {
        if (before === ended && !isClosed) client.disconnect(true);
      }, RETRY_MAX_MS).unref();
    }
  }

  client.on("ready", () => void admit());
  client.on("close", onClose);
  client.on("error", (error: Error) => {
    failure = error;
    reportOutage(error);
  });
  // The driver gives up when the connection breaks while it is asking the sentinels.
  client.on("end", () => {
    if (!isClosed) setTimeout(() => void client.connect().catch(reportOutage), RETRY_MAX_MS).unref();
  });

  return {
    keyPrefix: options.keyPrefix,
    /** Runs commands. Throws `store_unavailable` when they fail or exceed the timeout. */
    async ask<T>(command: (redis: RedisCommands) => Promise<T>): Promise<T> {
      try {
        // Over a single connection the driver applies the timeout itself.
        if (isUp && !isCluster) return await command(client);
        if (!isUp && client.status === "reconnecting") throw new Error("there is no connection to Redis");
        return await withDeadline(timeoutMs, async (isLate) => {
          if (!isUp) await connecting.promise;
          return retryWhileRefused(() => command(client), isLate);
        });
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw new AppError("store_unavailable", { retryAfterSeconds: 2, cause: error });
      }
    },
    close(): void {
      isClosed = true;
      close();
    },
  };
}

/** A connection to a Redis, alone or with sentinels, or to a cluster. It reconnects after an outage. */
export type RedisConnection = ReturnType<typeof connectRedis>;

/** A promise for the next connection. No operation may be waiting when it fails, so its rejection is handled here. */
function nextConnection(): PromiseWithResolvers<void> {
  const connecting = Promise.withResolvers<void>();
  connecting.promise.catch(() => {});
  return connecting;
}

/** Runs a command, and retries it while a cluster refuses it for the moment. */
function retryWhileRefused<T>(command: () => Promise<T>, isLate: () => boolean): Promise<T> {
  const run = async () => {
    // A command that was answered with 503 must not be executed later.
    if (isLate()) throw new Error("too late");
    return command();
  };
  return retry(run, (error) => {
    if (!isRefusedForNow(error)) throw error;
    return REFUSED_RETRY_MS;
  });
}

async function withDeadline<T>(timeoutMs: number, run: (isLate: () => boolean) => Promise<T>): Promise<T> {
  let late = false;
  const deadline = Promise.withResolvers<never>();
  const timer = setTimeout(() => {
    late = true;
    deadline.reject(new Error(`Redis did not answer within ${timeoutMs} ms`));
  }, timeoutMs);
  try {
    return await Promise.race([run(() => late), deadline.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** The fields of INFO, in a cluster from the master that answers first. Empty when this user may not run INFO. */
async function readInfo(client: Redis | Cluster): Promise<Map<string, string>> {
  if (client instanceof Cluster) return Promise.any(client.nodes("master").map(readInfo));
  try {
    const lines = (await client.info()).split("\r\n");
    return new Map(lines.map((line) => line.split(":", 2) as [string, string]));
  } catch (error) {
    if (/^(?:NOPERM|ERR unknown command)/.test((error as Error).message)) return new Map();
    throw error;
  }
}

function assertUsable(info: Map<string, string>): void {
  if (info.get("loading") === "1") throw new Error("LOADING: this Redis is still loading its data");
  // A replica may lag: it may still have a session that has ended.
  if (info.get("role") === "slave") throw new Error("READONLY: this Redis is a replica");
}

function factsOf(info: Map<string, string>): RedisFacts {
  const valkey = info.get("valkey_version");
  const redis = info.get("redis_version");
  const version = valkey ? `Valkey ${valkey}` : redis ? `Redis ${redis}` : null;
  return { version, evictionPolicy: info.get("maxmemory_policy") ?? null };
}
