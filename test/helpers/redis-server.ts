import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { Redis } from "ioredis";
import { type Cleanup, tempDir } from "./temp-dir.ts";
import { until } from "./until.ts";

export interface RedisServer {
  port: number;
  /** Stops the process where it stands, as a machine that hangs. */
  pause(): void;
  resume(): void;
  /** Ends the process at once. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with nothing in it. */
  restart(): Promise<void>;
  /** A plain client, to look at and change what the server holds. */
  client(context: Cleanup): Redis;
}

/** Starts a real `redis-server` on a free port. Throws when the binary is missing: what is not tested must not pass. */
export async function startRedisServer(context: Cleanup, options: { password?: string } = {}): Promise<RedisServer> {
  const { password } = options;
  let child: ChildProcess | undefined;
  // Callbacks run in order: the process ends before its directory is removed.
  context.after(() => kill());
  const dir = tempDir(context);
  const port = await freePort();
  const access = password === undefined ? {} : { password };

  async function start(): Promise<void> {
    const fixed = ["--port", String(port), "--bind", "127.0.0.1", "--dir", dir, "--save", "", "--appendonly", "no"];
    const started = spawn("redis-server", [...fixed, ...(password === undefined ? [] : ["--requirepass", password])], {
      stdio: "ignore",
    });
    child = started;
    const end = () => started.kill("SIGKILL");
    process.once("exit", end);
    started.once("exit", () => process.off("exit", end));
    await new Promise<void>((resolve, reject) => {
      started.once("spawn", resolve);
      started.once("error", (error: NodeJS.ErrnoException) =>
        reject(
          error.code === "ENOENT"
            ? new Error("redis-server is not on PATH: install it (Debian: apt-get install redis-server)")
            : error,
        ),
      );
    });
    await until(() => {
      if (started.exitCode !== null) throw new Error(`redis-server ended with ${started.exitCode}`);
      return answers(port, access);
    }, 5000);
  }

  async function kill(): Promise<void> {
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  }

  await start();
  return {
    port,
    pause: () => void child?.kill("SIGSTOP"),
    resume: () => void child?.kill("SIGCONT"),
    kill,
    restart: start,
    client(user) {
      const client = new Redis({ host: "127.0.0.1", port, ...access });
      user.after(() => client.disconnect());
      return client;
    },
  };
}

async function answers(port: number, access: { password?: string }): Promise<boolean> {
  const client = new Redis({ host: "127.0.0.1", port, ...access, lazyConnect: true, retryStrategy: () => null });
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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  if (address === null || typeof address === "string") throw new Error("no free port");
  return address.port;
}
