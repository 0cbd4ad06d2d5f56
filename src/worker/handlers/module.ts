import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { Worker, WorkerOptions } from "node:worker_threads";
import { describeError } from "../../errors.ts";
import { type ClaimedJob, idempotencyKeyOf } from "../../events/job.ts";
import type { Log } from "../../log.ts";
import type { Handler } from "../handler.ts";
import type { FromModule, ModuleThreadData, ToModule } from "./module-messages.ts";

/** What the handler of a module is created with. */
interface ModuleTools {
  log: Log;
  startThread: (options: WorkerOptions) => Worker;
  environment: Record<string, string | undefined>;
}

// A thread without work is ended after this time.
const IDLE_MS = 30_000;
// After its signal has aborted, a function may clean up for this long. Then its thread is ended.
const ABORT_GRACE_MS = 500;
const MAX_LINE_LENGTH = 1024;

interface Thread {
  worker: Worker;
  /** Ends the thread when it has been idle for long. */
  timer: NodeJS.Timeout | undefined;
}

/**
 * Calls the function of a module for each event. Each call has a thread to itself, so that a call that hangs can be ended. A
 * thread is used again for the next call; the module is loaded once in each.
 */
export function createModuleHandler({ file, route }: { file: string; route: string }, tools: ModuleTools): Handler {
  const { log, startThread, environment } = tools;
  const idle: Thread[] = [];

  function start(): Thread {
    const worker = startThread({
      workerData: { file } satisfies ModuleThreadData,
      env: environment as NodeJS.ProcessEnv,
      stdout: true,
      stderr: true,
    });
    // A thread that dies while it is idle is not used again. During a call, the call also hears of it.
    worker.on("error", () => {});
    worker.on("exit", () => forget(worker));
    logOutput(worker, route, log);
    return { worker, timer: undefined };
  }

  function take(): Thread {
    const thread = idle.pop() ?? start();
    clearTimeout(thread.timer);
    return thread;
  }

  function keep(thread: Thread): void {
    thread.timer = setTimeout(() => void thread.worker.terminate(), IDLE_MS).unref();
    idle.push(thread);
  }

  function forget(worker: Worker): void {
    const index = idle.findIndex((thread) => thread.worker === worker);
    if (index >= 0) clearTimeout(idle.splice(index, 1)[0]?.timer);
  }

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<string | undefined> {
    const thread = take();
    const call = callModule(thread.worker, job, log);
    const onAbort = () => thread.worker.postMessage("abort" satisfies ToModule);
    signal.addEventListener("abort", onAbort);
    try {
      const aborted = once(signal, "abort").then(() => delay(ABORT_GRACE_MS));
      await Promise.race([call, aborted]);
      signal.throwIfAborted();
      keep(thread);
      return await call;
    } catch (error) {
      if (error instanceof FunctionError && !signal.aborted) keep(thread);
      else await thread.worker.terminate();
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  return {
    run,
    target: null,
    endsWithSignal: true,
    async close() {
      await Promise.all(idle.splice(0).map(({ worker }) => worker.terminate()));
    },
  };
}

/** An error that a module's function has thrown. Its thread can be used again. */
class FunctionError extends Error {
  override name = "FunctionError";
}

/** Calls the function of a thread. Rejects with {@link FunctionError} if it throws, and with another error if it cannot. */
function callModule(worker: Worker, job: ClaimedJob, log: Log): Promise<string | undefined> {
  return new Promise((resolve, reject) => {
    const { source, eventId, route } = job;
    const onMessage = (message: FromModule) => {
      if ("log" in message) {
        const fields = message.fields === undefined ? {} : { fields: JSON.parse(message.fields) as object };
        log[message.log]({ event: "handler_log", source, eventId, route, ...fields }, message.message);
        return;
      }
      end();
      if ("error" in message) reject(message.isLoaded ? new FunctionError(message.error) : new Error(message.error));
      else resolve(message.response);
    };
    const onError = (error: unknown) => {
      end();
      reject(new Error(`the thread of the module ended: ${describeError(error)}`));
    };
    const onExit = (code: number) => onError(new Error(`exit code ${code}`));
    const end = () => {
      worker.off("message", onMessage).off("error", onError).off("exit", onExit);
    };
    worker.on("message", onMessage).on("error", onError).on("exit", onExit);
    worker.postMessage(callOf(job));
  });
}

function callOf(job: ClaimedJob): ToModule {
  const { eventId: id, source, type, contentType, payload, receivedAt, attempt } = job;
  const headers = JSON.parse(job.headers) as Record<string, string>;
  // A copy: posting a part of a larger buffer would clone all of it.
  const event = { id, source, type, contentType, body: new Uint8Array(payload), headers, receivedAt, attempt };
  return { event, idempotencyKey: idempotencyKeyOf(job) };
}

/** Logs what a thread writes to its standard output and standard error, line by line. */
function logOutput({ stdout, stderr }: Worker, route: string, log: Log): void {
  for (const stream of [stdout, stderr]) {
    let rest = "";
    stream.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      // A line without an end is not kept beyond the length that is logged.
      rest = (lines.pop() ?? "").slice(0, MAX_LINE_LENGTH);
      for (const line of lines) {
        if (line !== "") log.info({ event: "handler_output", route }, line.slice(0, MAX_LINE_LENGTH));
      }
    });
  }
}
