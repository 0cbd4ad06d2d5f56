import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Redis } from "ioredis";
import { findPort } from "../../src/http/listen.ts";
import { freePort } from "./ports.ts";
import { type Cleanup, tempDir } from "./temp-dir.ts";
import { HANG_MS, until } from "./until.ts";

const FIXTURES = join(import.meta.dirname, "../fixtures");
export const TLS_CERT_FILE = join(FIXTURES, "first.crt");
export const TLS_KEY_FILE = join(FIXTURES, "first.key");

export interface RedisProcess {
  port: number;
  /** Suspends the process, like a machine that hangs. */
  pause(): void;
  resume(): void;
  /** Ends the process at once. */
  kill(): Promise<void>;
  /** Starts it again on the same port. Without `--save` it is empty. */
  restart(): Promise<void>;
  /** A plain client, to read and change the data of the server. */
  client(context: Cleanup): Redis;
}

interface RedisProcessOptions {
  password?: string;
  tls?: boolean;
  args?: string[];
  /** Gives it the ports of a cluster node. */
  inCluster?: boolean;
  /** Lines of a sentinel's configuration. */
  sentinel?: string[];
}

const START_TRIES = 3;

/** The major version of the `redis-server` that tests start; Valkey counts from 8. */
export function redisMajor(): number {
  const version = execFileSync("redis-server", ["--version"], { encoding: "utf8" });
  const major = /\bv=([0-9]+)\./.exec(version)?.[1];
  if (major === undefined) throw new Error(`redis-server --version says: ${version}`);
  return Number(major);
}

/** Starts a real `redis-server` on a free port; it ends with the test. */
export async function startRedis(context: Cleanup, options: RedisProcessOptions = {}): Promise<RedisProcess> {
  // Callbacks run in order, so that the process ends before its directory is removed.
  let started: RedisProcess | undefined;
  context.after(() => started?.kill());
  const dir = tempDir(context);
  for (let left = START_TRIES; ; left--) {
    try {
      const { port, bus } = options.inCluster ? await clusterPorts() : { port: await freePort(), bus: [] };
      started = await startOn(dir, port, { ...options, args: [...bus, ...(options.args ?? [])] });
      return started;
    } catch (error) {
      // Another process may have taken the port since it was found.
      if (left === 1) throw error;
    }
  }
}

async function startOn(
  dir: string,
  port: number,
  { password, tls, args = [], sentinel }: RedisProcessOptions,
): Promise<RedisProcess> {
  const asUser = password === undefined ? {} : { password };
  const own = {
    host: "127.0.0.1",
    port,
    ...asUser,
    ...(tls ? { tls: { ca: readFileSync(TLS_CERT_FILE) } } : {}),
  };
  const listen = tls
    ? ["--port", "0", "--tls-port", `${port}`, "--tls-cert-file", TLS_CERT_FILE, "--tls-key-file", TLS_KEY_FILE].concat(
        ["--tls-ca-cert-file", TLS_CERT_FILE, "--tls-auth-clients", "no"],
      )
    : ["--port", `${port}`];
  const config = join(dir, "redis.conf");
  // Used to check that the server is up: on the port, another process that took it meanwhile might answer.
  const path = join(dir, "redis.sock");
  const command = [config, ...(sentinel ? ["--sentinel"] : []), ...listen, "--unixsocket", path];
  command.push("--bind", "127.0.0.1", "--dir", dir);
  if (!sentinel) command.push("--save", "", "--appendonly", "no");
  if (password !== undefined) command.push("--requirepass", password);
  command.push(...args);
  let child: ChildProcess;

  async function start(): Promise<void> {
    child = spawn("redis-server", command, { stdio: "ignore" });
    const end = () => child.kill("SIGKILL");
    process.once("exit", end);
    child.once("exit", () => process.off("exit", end));
    await once(child, "spawn");
    await until(() => {
      if (child.exitCode !== null) throw new Error(`redis-server ended with ${child.exitCode}`);
      return answers({ path, ...asUser });
    });
  }

  async function kill(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  // A sentinel rewrites this file.
  writeFileSync(config, (sentinel ?? []).map((line) => `${line}\n`).join(""));
  try {
    await start();
  } catch (error) {
    await kill();
    throw error;
  }
  return {
    port,
    pause: () => void child.kill("SIGSTOP"),
    resume: () => void child.kill("SIGCONT"),
    kill,
    restart: start,
    client(user) {
      const client = new Redis({ ...own, enableReadyCheck: false });
      client.on("error", () => {});
      user.after(() => client.disconnect());
      return client;
    },
  };
}

async function answers(options: { path: string; password?: string }): Promise<boolean> {
  const client = new Redis({ ...options, lazyConnect: true, enableReadyCheck: false, retryStrategy: () => null });
  client.on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    client.disconnect();
  }
}

const SLOTS = 16_384;
const CLUSTER_SIZE = 3;
// A machine that stalls for less breaks no cluster.
const NODE_TIMEOUT_MS = "15000";

/** Starts a cluster of three masters, with extra arguments, and waits until each one sees the cluster as complete. */
export async function startCluster(context: Cleanup, more: string[] = []): Promise<RedisProcess[]> {
  const nodes: RedisProcess[] = [];
  for (let i = 0; i < CLUSTER_SIZE; i++) nodes.push(await startNode(context, more));
  const clients = nodes.map((node) => node.client(context));
  const first = nodes[0]?.port ?? 0;
  const firstBus = (await clients[0]?.cluster("NODES"))?.toString().match(/@([0-9]+)/)?.[1] ?? "";
  for (const [index, client] of clients.entries()) {
    const from = Math.ceil((SLOTS * index) / CLUSTER_SIZE);
    const to = Math.ceil((SLOTS * (index + 1)) / CLUSTER_SIZE) - 1;
    await addSlots(client, from, to);
    if (index > 0) await client.call("CLUSTER", "MEET", "127.0.0.1", first, firstBus);
  }
  await clusterIsWhole(context, nodes);
  return nodes;
}

/** Starts a cluster of one node. It has met no other node, so it does not know its own address. */
export async function startLoneNode(context: Cleanup): Promise<RedisProcess> {
  const node = await startNode(context);
  const client = node.client(context);
  await addSlots(client, 0, SLOTS - 1);
  await until(async () => /cluster_state:ok/.test(String(await client.cluster("INFO"))));
  return node;
}

function startNode(context: Cleanup, more: string[] = []): Promise<RedisProcess> {
  const args = ["--cluster-enabled", "yes", "--cluster-node-timeout", NODE_TIMEOUT_MS, ...more];
  return startRedis(context, { inCluster: true, args });
}

async function addSlots(client: Redis, from: number, to: number): Promise<void> {
  await client.cluster("ADDSLOTS", ...Array.from({ length: to - from + 1 }, (_, slot) => from + slot));
}

const BUS_OFFSET = 10_000;

/** Free ports for a node and the cluster bus. Before Redis 7, the bus port is always the port + 10000. */
async function clusterPorts(): Promise<{ port: number; bus: string[] }> {
  if (redisMajor() >= 7) return { port: await freePort(), bus: ["--cluster-port", String(await freePort())] };
  for (;;) {
    const port = await freePort();
    const busIsFree = await findPort({ port: port + BUS_OFFSET, host: "127.0.0.1" }).catch(() => null);
    if (busIsFree !== null) return { port, bus: [] };
  }
}

/** Waits until every node of a cluster reports that all slots are served. */
export async function clusterIsWhole(context: Cleanup, nodes: RedisProcess[]): Promise<void> {
  const clients = nodes.map((node) => node.client(context));
  await until(async () => {
    const states = await Promise.all(clients.map(async (client) => String(await client.cluster("INFO"))));
    return states.every((text) => /cluster_state:ok/.test(text) && /cluster_known_nodes:3/.test(text));
  });
}

/** Starts a master and a replica. */
export async function startReplicated(context: Cleanup): Promise<{ master: RedisProcess; replica: RedisProcess }> {
  // By default a master waits for more replicas for five seconds.
  const master = await startRedis(context, { args: ["--repl-diskless-sync-delay", "0"] });
  const replica = await startRedis(context, { args: ["--replicaof", "127.0.0.1", String(master.port)] });
  return { master, replica };
}

/**
 * Starts a master, a replica, and a sentinel. On a machine that stalls it still promotes the replica only when told to.
 */
export async function startSentinel(
  context: Cleanup,
  password?: string,
): Promise<{ master: RedisProcess; replica: RedisProcess; sentinel: RedisProcess }> {
  const { master, replica } = await startReplicated(context);
  const sentinel = await startRedis(context, {
    ...(password === undefined ? {} : { password }),
    sentinel: [
      `sentinel monitor mymaster 127.0.0.1 ${master.port} 1`,
      `sentinel down-after-milliseconds mymaster ${HANG_MS}`,
      `sentinel failover-timeout mymaster ${HANG_MS}`,
    ],
  });
  const watcher = sentinel.client(context);
  await until(async () => {
    const replicas = (await watcher.call("SENTINEL", "REPLICAS", "mymaster")) as unknown[];
    return replicas.length === 1 && (await replica.client(context).info("replication")).includes("link_status:up");
  });
  return { master, replica, sentinel };
}

/** The node of a cluster for the slot of a key. The key need not exist. */
export async function nodeOf(context: Cleanup, nodes: RedisProcess[], key: string): Promise<RedisProcess> {
  const slot = (await nodes[0]?.client(context).cluster("KEYSLOT", key)) ?? 0;
  return nodes[Math.floor((slot * CLUSTER_SIZE) / SLOTS)] as RedisProcess;
}

/** The node of a cluster that holds a key. */
export async function ownerOf(context: Cleanup, nodes: RedisProcess[], key: string): Promise<RedisProcess> {
  for (const node of nodes) if ((await node.client(context).keys("*")).includes(key)) return node;
  throw new Error(`no node holds ${key}`);
}

/** Begins to migrate the slot of a key to another node. Its keys are not moved yet. */
export async function beginToMove(
  context: Cleanup,
  nodes: RedisProcess[],
  key: string,
): Promise<{ source: RedisProcess; target: RedisProcess }> {
  const source = await ownerOf(context, nodes, key);
  const target = nodes.find((node) => node !== source) as RedisProcess;
  const [from, to] = [source.client(context), target.client(context)];
  const slot = await from.cluster("KEYSLOT", key);
  await to.cluster("SETSLOT", slot, "IMPORTING", await from.cluster("MYID"));
  await from.cluster("SETSLOT", slot, "MIGRATING", await to.cluster("MYID"));
  return { source, target };
}
