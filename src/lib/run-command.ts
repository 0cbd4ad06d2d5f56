import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { decodeBeginning, MAX_RESPONSE_BYTES } from "./beginning.ts";

/** A program to run without a shell. */
export interface Command {
  file: string;
  args: readonly string[];
  /** Its working directory. */
  folder: string;
  environment: NodeJS.ProcessEnv;
  /** What it gets on standard input. */
  input: string | Uint8Array;
}

/** How a program has ended: its exit code or the signal that ended it, and the beginning of its output. */
interface EndedCommand {
  code: number | null;
  killedBy: NodeJS.Signals | null;
  output: string | undefined;
}

// A program in the background may keep the output open. It is read no longer than this after the command has ended.
const MAX_DRAIN_MS = 100;

/**
 * Runs a command. It leads a process group of its own, which is killed when the signal aborts. Throws the system's
 * error if it cannot be started.
 */
export async function runCommand(command: Command, signal: AbortSignal): Promise<EndedCommand> {
  const { file, args, folder: cwd, environment: env, input } = command;
  const child = spawn(file, args, { cwd, env, detached: true, stdio: "pipe" });
  const ended = exitOf(child);
  // Without a file descriptor the child has no streams.
  if (child.pid === undefined) await ended;
  const output = captureOutput(child);
  const kill = () => killGroup(child);
  signal.addEventListener("abort", kill);
  try {
    // A command need not read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    const { code, killedBy } = await ended;
    await Promise.race([output.closed, delay(MAX_DRAIN_MS)]);
    return { code, killedBy, output: output.text() };
  } finally {
    signal.removeEventListener("abort", kill);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

/** Says how a command ended without success. */
export function failureOf({ code, killedBy }: EndedCommand): string {
  return `the command ${code === null ? `was ended by ${killedBy}` : `exited with ${code}`}`;
}

function exitOf(child: ChildProcess): Promise<Omit<EndedCommand, "output">> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, killedBy) => resolve({ code, killedBy }));
    child.once("error", (error) => {
      // Also emitted for a failed kill.
      if (child.pid === undefined) reject(error);
    });
  });
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-Number(child.pid), "SIGKILL");
  } catch {
    // The group has ended.
    child.kill("SIGKILL");
  }
}

/** Captures the first bytes of standard output and standard error, in order of arrival. */
function captureOutput({ stdout, stderr }: ReturnType<typeof spawn>) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  const streams = [stdout, stderr].filter((stream) => stream !== null);
  for (const stream of streams) {
    stream.on("error", () => {});
    stream.on("data", (chunk: Buffer) => {
      if (bytes < MAX_RESPONSE_BYTES) chunks.push(chunk.subarray(0, MAX_RESPONSE_BYTES - bytes));
      bytes += chunk.length;
    });
  }
  return {
    closed: Promise.all(streams.map((stream) => new Promise((resolve) => stream.once("close", resolve)))),
    text: () => decodeBeginning(Buffer.concat(chunks)),
  };
}
