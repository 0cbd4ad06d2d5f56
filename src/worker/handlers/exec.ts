import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { systemCode } from "../../errors.ts";
import { type ClaimedJob, idempotencyKeyOf } from "../../events/job.ts";
import { type Handler, isOutOfDescriptors, TargetError } from "../handler.ts";
import type { HandlerConfig } from "../route.ts";
import { decodeBeginning, MAX_RESPONSE_BYTES } from "./beginning.ts";

// A program in the background may keep the output open. It is read no longer than this after the command has ended.
const MAX_DRAIN_MS = 100;

/**
 * Runs a command for each event, without a shell. It gets the payload on standard input and the event's identity in its
 * environment; exit code 0 is success. It leads a process group of its own, which is killed when its signal aborts.
 */
export function createExecHandler(
  { command, folder }: Extract<HandlerConfig, { kind: "exec" }>,
  environment: NodeJS.ProcessEnv,
): Handler {
  const [file, ...args] = command;

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<string | undefined> {
    const env = { ...environment, ...variablesOf(job) };
    const child = spawn(file, args, { cwd: folder, env, detached: true, stdio: "pipe" });
    const ended = exitOf(child);
    // Without a file descriptor the child has no streams.
    if (child.pid === undefined) await ended;
    const output = captureOutput(child);
    const kill = () => killGroup(child);
    signal.addEventListener("abort", kill);
    try {
      // A command need not read its input.
      child.stdin.on("error", () => {});
      child.stdin.end(job.payload);
      const { code, killedBy } = await ended;
      await Promise.race([output.closed, delay(MAX_DRAIN_MS)]);
      const response = output.text();
      if (code === 0) return response;
      const how = code === null ? `was ended by ${killedBy}` : `exited with ${code}`;
      throw new TargetError(`the command ${how}`, { isUnavailable: false, response });
    } finally {
      signal.removeEventListener("abort", kill);
      child.stdout.destroy();
      child.stderr.destroy();
    }
  }

  return { run, target: null, endsWithSignal: true, close: async () => {} };
}

function variablesOf(job: ClaimedJob): NodeJS.ProcessEnv {
  return {
    AUTHSERVE_EVENT_ID: job.eventId,
    AUTHSERVE_EVENT_TYPE: job.type,
    AUTHSERVE_EVENT_SOURCE: job.source,
    AUTHSERVE_ATTEMPT: String(job.attempt),
    AUTHSERVE_IDEMPOTENCY_KEY: idempotencyKeyOf(job),
    AUTHSERVE_ROUTE: job.route,
    AUTHSERVE_CONTENT_TYPE: job.contentType,
  };
}

function exitOf(child: ChildProcess): Promise<{ code: number | null; killedBy: NodeJS.Signals | null }> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code, killedBy) => resolve({ code, killedBy }));
    child.once("error", (error) => {
      // Also emitted for a failed kill.
      if (child.pid !== undefined) return;
      if (isOutOfDescriptors(error)) reject(error);
      else reject(new TargetError(`the command cannot be started (${systemCode(error)})`, { isUnavailable: false }));
    });
  });
}

function killGroup(child: ChildProcess): void {
  try {
    process.kill(-Number(child.pid), "SIGKILL");
  } catch {
    // The group has ended, or the system has none: Windows.
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
