import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, chownSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { NOBODY, postgresBin } from "./back-end.ts";
import { freePort } from "./ports.ts";
import { until } from "./until.ts";

/** The superuser of test servers. */
export const USER = "authserve";

const START_TRIES = 3;

/** PostgreSQL refuses to run as root. */
const AS_USER: { uid?: number; gid?: number } = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};

/** Gives a file to the server's user. */
export function own(path: string): void {
  if (AS_USER.uid !== undefined) chownSync(path, AS_USER.uid, AS_USER.uid);
}

/** Runs a program of PostgreSQL as the server's user. */
export function run(program: string, args: string[]): void {
  execFileSync(join(postgresBin() ?? "", program), args, { ...AS_USER, stdio: ["ignore", "ignore", "pipe"], cwd: "/" });
}

/** A folder that the server's user can write. The socket's path must be short. */
export function makeDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "pg-"));
  chmodSync(dir, 0o700);
  own(dir);
  return dir;
}

/** The processes of a server. */
export interface ServerProcess {
  port: number;
  /** The folder of its socket. */
  dir: string;
  data: string;
  settings: Record<string, string>;
  /** Ends it by a signal that the main process passes on. */
  end(signal: NodeJS.Signals): Promise<void>;
  /** Ends it at once, also while it is suspended. It leaves no shared memory behind, unlike after SIGKILL. */
  dispose(): Promise<void>;
  /** Ends each process by SIGKILL. */
  kill(): Promise<void>;
  /** Sends a signal to each process. */
  signal(signal: NodeJS.Signals): void;
  restart(): Promise<void>;
}

/** Starts a server on a port; by default on a free one. */
export async function startProcess(
  dir: string,
  data: string,
  settings: Record<string, string>,
  port = 0,
): Promise<ServerProcess> {
  for (let left = START_TRIES; ; left--) {
    try {
      return await startOn(port === 0 ? await freePort() : port, dir, data, settings);
    } catch (error) {
      // Another process may have taken the port since it was found.
      if (left === 1 || port !== 0) throw error;
    }
  }
}

async function startOn(
  port: number,
  dir: string,
  data: string,
  settings: Record<string, string>,
): Promise<ServerProcess> {
  const args = ["-D", data, "-p", `${port}`, "-h", "127.0.0.1", "-k", dir];
  for (const [name, value] of Object.entries(settings)) args.push("-c", `${name}=${value}`);
  let child: ChildProcess;
  let log = "";

  async function start(): Promise<void> {
    child = spawn(join(postgresBin() ?? "", "postgres"), args, {
      ...AS_USER,
      stdio: ["ignore", "ignore", "pipe"],
      cwd: "/",
    });
    child.stderr?.on("data", (chunk) => {
      log = (log + chunk).slice(-4000);
    });
    // A server for all tests of a process must not keep the process running.
    child.unref();
    (child.stderr as Socket | null)?.unref();
    process.once("exit", quit);
    child.once("exit", () => process.off("exit", quit));
    await until(async () => {
      if (hasEnded()) throw new Error(`postgres ended with ${child.exitCode ?? child.signalCode}: ${log}`);
      return isAnswering(dir, port);
    });
  }

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;

  function quit(): void {
    if (hasEnded()) return;
    child.kill("SIGQUIT");
    // A suspended process gets it once it goes on.
    signal("SIGCONT");
  }

  async function afterExit(send: () => void): Promise<void> {
    if (hasEnded()) return;
    const ended = once(child, "exit");
    child.ref();
    send();
    await ended;
  }

  function signal(name: NodeJS.Signals): void {
    for (const pid of pidsOf(child)) {
      try {
        process.kill(pid, name);
      } catch {
        // It has ended meanwhile.
      }
    }
  }

  async function kill(): Promise<void> {
    // It must start no other process after its children were listed: a survivor would go on writing to the data.
    child.kill("SIGSTOP");
    const pids = pidsOf(child);
    await afterExit(() => signal("SIGKILL"));
    await until(() => pids.every(isGone));
  }

  try {
    await start();
  } catch (error) {
    await afterExit(quit);
    throw error;
  }
  return {
    port,
    dir,
    data,
    settings,
    end: (name) => afterExit(() => child.kill(name)),
    dispose: () => afterExit(quit),
    kill,
    signal,
    async restart() {
      rmSync(join(data, "postmaster.pid"), { force: true });
      await start();
    },
  };
}

/** A process and its children. */
function pidsOf(child: ChildProcess): number[] {
  try {
    const children = readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8");
    return [child.pid as number, ...children.split(" ").filter(Boolean).map(Number)];
  } catch {
    return [];
  }
}

/** Whether a process has ended, even if nobody has asked for its exit code yet. */
function isGone(pid: number): boolean {
  try {
    return /^\d+ \(.*\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    return true;
  }
}

async function isAnswering(dir: string, port: number): Promise<boolean> {
  const client = new Client({ host: dir, port, user: USER, database: "postgres" });
  client.on("error", () => {});
  try {
    await client.connect();
    await client.query("SELECT 1");
    return true;
  } catch {
    return false;
  } finally {
    await client.end().catch(() => {});
  }
}
