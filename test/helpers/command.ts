import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { HANG_MS } from "./until.ts";

/** The command of the checkout, which runs the sources. */
const CHECKOUT = resolve(import.meta.dirname, "../../bin/authserve");

/** The command that is tested: that of the checkout, or the one that `AUTHSERVE` names. */
export const EXECUTABLE = process.env.AUTHSERVE === undefined ? CHECKOUT : resolve(process.env.AUTHSERVE);

// Without a home directory the built executable would unpack its add-ons into each DATA_DIR, which may be a small disk.
const ADDON_DIR = resolve(import.meta.dirname, "../../node_modules/.cache/addons");

export interface Exit {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface Finished extends Exit {
  stdout: string;
  stderr: string;
}

export interface CommandOptions {
  /** Working directory. */
  dir: string;
  /** The whole environment except PATH. */
  env?: Record<string, string | undefined>;
  input?: string | Buffer;
  /** Keeps standard input open after the input. */
  keepInputOpen?: boolean;
  /** Runs as this user and group. */
  uid?: number;
  /** When {@link runProgram} kills it: after {@link HANG_MS} by default. */
  timeoutMs?: number;
}

export interface Command {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  exited: Promise<Exit>;
}

const running = new Set<ChildProcess>();

process.on("exit", () => {
  for (const child of running) child.kill("SIGKILL");
});

/** Starts a program with its own environment, and collects its output. */
export function startProgram(program: string, args: readonly string[], options: CommandOptions): Command {
  const child = spawn(program, args, {
    cwd: options.dir,
    env: {
      PATH: process.env.PATH,
      ...(program === EXECUTABLE && program !== CHECKOUT && options.uid === undefined ? { ADDON_DIR } : {}),
      ...options.env,
    },
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.uid === undefined ? {} : { uid: options.uid, gid: options.uid }),
  });
  running.add(child);
  const out: Buffer[] = [];
  const err: Buffer[] = [];
  child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
  child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
  child.stdin.on("error", () => {});
  child.stdin.write(options.input ?? "");
  if (!options.keepInputOpen) child.stdin.end();
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code, signal) => {
      running.delete(child);
      resolve({ code, signal });
    });
  });
  return {
    child,
    stdout: () => Buffer.concat(out).toString("utf8"),
    stderr: () => Buffer.concat(err).toString("utf8"),
    exited,
  };
}

/** Runs a program until it ends, or kills it after the timeout. */
export async function runProgram(program: string, args: readonly string[], options: CommandOptions): Promise<Finished> {
  const command = startProgram(program, args, options);
  const timer = setTimeout(() => command.child.kill("SIGKILL"), options.timeoutMs ?? HANG_MS);
  const exit = await command.exited;
  clearTimeout(timer);
  return { ...exit, stdout: command.stdout(), stderr: command.stderr() };
}

/** Runs {@link EXECUTABLE} until it ends. */
export function authserve(args: readonly string[], options: CommandOptions): Promise<Finished> {
  return runProgram(EXECUTABLE, args, options);
}
