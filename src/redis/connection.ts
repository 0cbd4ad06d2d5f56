import { setTimeout as delay } from "node:timers/promises";
import { Cluster, Redis, ReplyError } from "ioredis";
import { AppError } from "../errors.ts";
import { openClient, RETRY_MAX_MS, type RedisOptions } from "./client.ts";
import { isRefusedForNow } from "./cluster.ts";

const REFUSED_RETRY_MS = 100;

/** What a server says about itself; null where this user may not ask. */
export interface RedisFacts {
  version: string | null;
  evictionPolicy: string | null;
}

/** Who is told when Redis comes and goes. */
export interface RedisWatcher {
  /** Told when Redis answers, at the start and after each outage. */
  onUp(facts: RedisFacts): void;
  /** Told once per outage. */
  onDown(reason: Error): void;
}

/** The commands that the adapters use. Scripts and keys are plain text; answers are as Redis gives them. */
type RedisCommands = Pick<Redis, "get" | "set" | "del" | "eval" | "ping" | "zrange">;

/** A connection to one Redis, a Redis behind sentinels, or a cluster, that heals by itself. */
export interface RedisConnection {
  readonly keyPrefix: string;
  /** Runs commands. Throws `store_unavailable` when they fail, or are not done within the time limit. */
  ask<T>(command: (redis: RedisCommands) => Promise<T>): Promise<T>;
  close(): void;
}

/** Whether what was asked has certainly not been done: Redis itself answered that it would not. */
export function isRefused(error: unknown): boolean {
  return error instanceof AppError && error.cause instanceof ReplyError;
}

/** Connects in the background: an operation that comes earlier waits for the connection, within its time limit. */
export function connectRedis(options: RedisOptions, watcher: RedisWatcher): RedisConnection {
  const { timeoutMs } = options;
  const isCluster = options.servers.kind === "cluster";
  const { client, close } = openClient(options);
  let isUp = false;
  let isClosed = false;
  let outageTold = false;
  /** Why the last connection failed, when the driver said so. */
  let failure: Error | undefined;
  let ended = 0;
  let attempt = openAttempt();

  function tellOutage(reason: Error): void {
    if (outageTold || isClosed) return;
    outageTold = true;
    watcher.onDown(reason);
  }

  /** Ends the wait of whoever came before there was a connection. */
  function failAttempt(reason: Error): void {
    tellOutage(reason);
    attempt.reject(reason);
    attempt = openAttempt();
  }

  function onClose(): void {
    ended++;
    isUp = false;
    failAttempt(failure ?? new Error("the connection to Redis is closed"));
    failure = undefined;
  }

  async function admit(): Promise<void> {
    const before = ended;
    try {
      // The driver would go on with database 0 when it may not select this one.
      if (client instanceof Redis && options.db) await client.select(options.db);
      const info = await readInfo(client);
      if (before !== ended) return;
      // A cluster leads each command to a master that serves its slot.
      if (!isCluster) refuseUnfit(info);
      isUp = true;
      outageTold = false;
      failure = undefined;
      watcher.onUp(factsOf(info));
      attempt.resolve();
    } catch (error) {
      if (before !== ended || isClosed) return;
      failure = error as Error;
      failAttempt(failure);
      setTimeout(() => {
        if (before === ended && !isClosed) client.disconnect(true);
      }, RETRY_MAX_MS).unref();
    }
  }

  client.on("ready", () => void admit());
  client.on("close", onClose);
  client.on("error", (error: Error) => {
    failure = error;
    tellOutage(error);
  });
  // The driver gives up when the connection is cut while it still asks the sentinels.
  client.on("end", () => {
    if (!isClosed) setTimeout(() => void client.connect().catch(tellOutage), RETRY_MAX_MS).unref();
  });

  return {
    keyPrefix: options.keyPrefix,
    async ask(command) {
      try {
        // The driver itself bounds a command that is sent over one connection.
        if (isUp && !isCluster) return await command(client);
        if (!isUp && client.status === "reconnecting") throw new Error("there is no connection to Redis");
        return await withDeadline(timeoutMs, async (isLate) => {
          if (!isUp) await attempt.promise;
          return untilTaken(() => command(client), isLate);
        });
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw new AppError("store_unavailable", { retryAfterSeconds: 2, cause: error });
      }
    },
    close() {
      isClosed = true;
      close();
    },
  };
}

/** A promise for the connection that is being made. Nobody may be waiting when it fails. */
function openAttempt(): PromiseWithResolvers<void> {
  const attempt = Promise.withResolvers<void>();
  attempt.promise.catch(() => {});
  return attempt;
}

/** Runs a command, and again as long as a cluster refuses it for the moment. */
async function untilTaken<T>(command: () => Promise<T>, isLate: () => boolean): Promise<T> {
  for (;;) {
    // What has been answered with 503 must not be written later.
    if (isLate()) throw new Error("too late");
    try {
      return await command();
    } catch (error) {
      if (!isRefusedForNow(error)) throw error;
    }
    await delay(REFUSED_RETRY_MS);
  }
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

/** The lines of INFO, of a cluster those of the master that answers first; none when this user may not ask. */
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

function refuseUnfit(info: Map<string, string>): void {
  if (info.get("loading") === "1") throw new Error("LOADING: this Redis still reads its data");
  // A replica may lag behind: what it says of a session may be long over.
  if (info.get("role") === "slave") throw new Error("READONLY: this Redis is a replica");
}

function factsOf(info: Map<string, string>): RedisFacts {
  const valkey = info.get("valkey_version");
  const redis = info.get("redis_version");
  const version = valkey ? `Valkey ${valkey}` : redis ? `Redis ${redis}` : null;
  return { version, evictionPolicy: info.get("maxmemory_policy") ?? null };
}
