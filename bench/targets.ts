import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { hashPassword } from "../src/auth/password.ts";
import { freePort } from "../test/helpers/ports.ts";

const ROOT = join(import.meta.dirname, "..");
/** The product's own Node.js, which also runs the peers. */
export const NODE = join(ROOT, "node_modules/.bin/node");
export const WEBHOOK_SECRET = "bench-webhook-secret-0123456789";
export const EMAIL = "bench@example.com";
export const PASSWORD = "correct horse battery staple";

/** A server under measurement. */
export interface Target {
  name: string;
  url: string;
  /** The path for deliveries. */
  path: string;
  pid: number;
  dir: string;
  /** Its settings, added to the environment. With them it can be started again. */
  env: NodeJS.ProcessEnv;
  stop(): Promise<void>;
}

export function makeScratch(): string {
  return mkdtempSync(join(tmpdir(), "authserve-bench-"));
}

async function start(
  name: string,
  dir: string,
  command: string[],
  env: NodeJS.ProcessEnv,
  url: string,
  path: string,
): Promise<Target> {
  const log = join(dir, `${name.replaceAll(/\W+/g, "-")}.log`);
  const [program = "", ...args] = command;
  const child: ChildProcess = spawn("sh", ["-c", 'exec "$@" >>"$LOG" 2>&1', "sh", program, ...args], {
    cwd: dir,
    env: { ...process.env, ...env, LOG: log },
  });
  const deadline = Date.now() + 60_000;
  for (;;) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) break;
    if (child.exitCode !== null || Date.now() > deadline)
      throw new Error(`${name} did not start: ${readFileSync(log, "utf8").slice(-2000)}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    name,
    url,
    path,
    pid: child.pid as number,
    dir,
    env,
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill("SIGTERM");
        await once(child, "exit");
      }
    },
  };
}

/** Builds the executable for {@link startProduct}, so that users' own program is measured. */
export function buildProduct(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(ROOT, "scripts/build.ts")], { encoding: "utf8" });
  if (status !== 0) throw new Error(`the executable could not be built: ${stderr}`);
}

export const EXECUTABLE = join(ROOT, "dist/authserve");

/** Starts the executable, by default with a new data directory on a free port. */
export function startProduct(scratch: string, env: NodeJS.ProcessEnv = {}): Promise<Target> {
  return startServer(scratch, [EXECUTABLE], env);
}

/** Starts the source of a checkout, with flags for Node. */
export function startCheckout(
  scratch: string,
  checkout: string,
  flags: string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Target> {
  return startServer(scratch, [NODE, ...flags, join(checkout, "src/cli/main.ts")], env);
}

async function startServer(scratch: string, program: string[], env: NodeJS.ProcessEnv): Promise<Target> {
  const dir = mkdtempSync(join(scratch, "product-"));
  const port = env.PORT ?? (await freePort());
  const settings = {
    PORT: String(port),
    DATA_DIR: join(dir, "data"),
    ADDON_DIR: join(scratch, "addons"),
    JWT_SECRET: "q7Zr0xV5tK2mW9yB4nL8sD1fG6hJ3pQe-bench",
    DEMO_EMAIL: EMAIL,
    DEMO_PASSWORD: await hashPassword(PASSWORD),
    WEBHOOK_SECRET,
    ...env,
  };
  return start("authserve", dir, [...program, "serve"], settings, `http://127.0.0.1:${port}`, "/webhook");
}

export async function startCeiling(scratch: string): Promise<Target> {
  const port = await freePort();
  const command = [NODE, join(import.meta.dirname, "ceiling.ts")];
  return start("bare node:http", scratch, command, { PORT: String(port) }, `http://127.0.0.1:${port}`, "/webhook");
}

/** Starts the minimal server with the same guarantee: see `minimum.ts`. */
export async function startMinimum(scratch: string): Promise<Target> {
  const dir = mkdtempSync(join(scratch, "minimum-"));
  const port = await freePort();
  const command = [NODE, join(import.meta.dirname, "minimum.ts")];
  const env = { PORT: String(port), DATABASE: join(dir, "minimum.db"), WEBHOOK_SECRET };
  return start("minimum", dir, command, env, `http://127.0.0.1:${port}`, "/webhook");
}

/** Starts Redis. It writes to disk every second, as is usual for queues, or before each answer. */
export async function startRedis(
  scratch: string,
  appendfsync: "everysec" | "always" = "everysec",
): Promise<{ port: number; pid: number; stop(): Promise<void> }> {
  const dir = mkdtempSync(join(scratch, "redis-"));
  const port = await freePort();
  const child = spawn(
    "redis-server",
    ["--port", String(port), "--dir", dir, "--appendonly", "yes", "--appendfsync", appendfsync, "--save", ""],
    { stdio: "ignore" },
  );
  await once(child, "spawn");
  return {
    port,
    pid: child.pid as number,
    async stop() {
      child.kill("SIGTERM");
      await once(child, "exit");
    },
  };
}

/** Copies a peer of `bench/peers` to a scratch folder, with its packages. */
export function installPeer(scratch: string, name: string): string {
  const dir = join(scratch, name);
  cpSync(join(import.meta.dirname, "peers", name), dir, { recursive: true });
  runIn(dir, "npm", "install", "--silent", "--no-audit", "--no-fund");
  return dir;
}

function runIn(dir: string, program: string, ...args: string[]): void {
  const { status, stderr } = spawnSync(program, args, { cwd: dir, encoding: "utf8" });
  if (status !== 0) throw new Error(`${program} ${args.join(" ")} failed: ${stderr}`);
}

/** Builds NestJS with passport-jwt, ioredis and BullMQ, a usual alternative, in a scratch folder. */
export function buildNest(scratch: string): string {
  const dir = installPeer(scratch, "nest");
  runIn(dir, "npx", "tsc", "-p", ".");
  return dir;
}

/** Installs Express with `@octokit/webhooks` and BullMQ, a usual alternative, in a scratch folder. */
export const installExpress = (scratch: string): string => installPeer(scratch, "express");

/** Starts the Express server of {@link installExpress}. */
export async function startExpress(dir: string, redisPort: number): Promise<Target> {
  const port = await freePort();
  const env = { PORT: String(port), REDIS_PORT: String(redisPort), WEBHOOK_SECRET, NODE_ENV: "production" };
  const command = [NODE, "main.js"];
  return start("Express + BullMQ", dir, command, env, `http://127.0.0.1:${port}`, "/webhook");
}

export async function startNest(dir: string, redisPort: number): Promise<Target> {
  const port = await freePort();
  const env = {
    PORT: String(port),
    REDIS_HOST: "127.0.0.1",
    REDIS_PORT: String(redisPort),
    JWT_SECRET: "q7Zr0xV5tK2mW9yB4nL8sD1fG6hJ3pQe-bench",
    DEMO_EMAIL: EMAIL,
    DEMO_PASSWORD: await hashPassword(PASSWORD),
    WEBHOOK_SECRET,
  };
  const command = [NODE, "dist/main.js"];
  return start("NestJS + BullMQ", dir, command, env, `http://127.0.0.1:${port}`, "/webhook");
}

/** Starts Debian's `webhook`, which verifies the signature and runs a command for each delivery. It stores nothing. */
export async function startDebianWebhook(scratch: string): Promise<Target | null> {
  if (spawnSync("webhook", ["-version"]).error) return null;
  const dir = join(scratch, "webhook");
  if (!existsSync(dir)) mkdirSync(dir);
  const hook = {
    id: "in",
    "execute-command": "/bin/true",
    "http-methods": ["POST"],
    "trigger-rule": {
      match: {
        type: "payload-hmac-sha256",
        secret: WEBHOOK_SECRET,
        parameter: { source: "header", name: "X-Signature" },
      },
    },
  };
  writeFileSync(join(dir, "hooks.json"), JSON.stringify([hook]));
  const port = await freePort();
  const command = ["webhook", "-hooks", "hooks.json", "-ip", "127.0.0.1", "-port", String(port)];
  return start("Debian webhook", dir, command, {}, `http://127.0.0.1:${port}`, "/hooks/in");
}

export function removeScratch(dir: string): void {
  rmSync(dir, { recursive: true, force: true });
}

/** Resident memory of a process, in millions of bytes. */
export function rssMb(pid: number | undefined): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
  return (Number(kib) * 1024) / 1e6;
}

/** The value of a metric of the product, by its name without the prefix and with its labels. 0 if it is missing. */
export async function metricOf({ url }: Target, name: string): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split("\n").find((one) => one.startsWith(`authserve_${name} `));
  return Number(line?.split(" ")[1] ?? 0);
}
