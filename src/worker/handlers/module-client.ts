import { MessageChannel, receiveMessageOnPort, type Worker, type WorkerOptions } from "node:worker_threads";
import { describeError } from "../../errors.ts";
import { type ClaimedJob, idempotencyKeyOf } from "../../events/job.ts";
import type { Log } from "../../log.ts";
import type { FromModule, ModuleEvent, ModuleThreadData, ToModule } from "./module-messages.ts";

/** What the handler of a module is created with. */
export interface ModuleTools {
  log: Log;
  startThread: (options: WorkerOptions) => Worker;
  environment: Record<string, string | undefined>;
}

/** An error that a module's function has thrown. */
export class FunctionError extends Error {
  override name = "FunctionError";
}

const MAX_LINE_LENGTH = 1024;

/** Starts a thread with the entry `module-thread.ts`. `onExit` is called when it has ended. */
export function startModuleThread(
  { file, route }: { file: string; route: string },
  { log, startThread, environment }: ModuleTools,
  onExit: () => void,
) {
  const { port1: port, port2 } = new MessageChannel();
  const worker = startThread({
    workerData: { file, port: port2 } satisfies ModuleThreadData,
    transferList: [port2],
    env: environment as NodeJS.ProcessEnv,
    stdout: true,
    stderr: true,
  });
  let current: PromiseWithResolvers<string | undefined> | undefined;
  let failure: unknown;
  let isTerminated = false;

  function receive(message: FromModule): void {
    if ("log" in message) {
      const { source, eventId } = message;
      const fields = message.fields === undefined ? {} : { fields: JSON.parse(message.fields) as object };
      log[message.log]({ event: "handler_log", source, eventId, route, ...fields }, message.message);
      return;
    }
    if ("response" in message) current?.resolve(message.response);
    else if ("error" in message) current?.reject(new FunctionError(message.error));
    else current?.reject(threadError(message.loadError, message.isOutOfDescriptors));
    current = undefined;
  }

  port.on("message", receive);
  worker.on("error", (error) => {
    failure = error;
  });
  worker.on("exit", (code) => {
    // What the thread sent before its end.
    for (let sent = receiveMessageOnPort(port); sent; sent = receiveMessageOnPort(port)) receive(sent.message);
    port.close();
    const error = endOf(failure ?? new Error(`exit code ${code}`));
    if (current) current.reject(error);
    else if (!isTerminated) {
      log.warn({ event: "handler_thread_ended", route, error: error.message }, "a module ended its thread");
    }
    onExit();
  });
  logOutput(worker, route, log);

  return {
    /**
     * Calls the function for one event, one call at a time. Rejects with {@link FunctionError} if the function throws,
     * and with another error if the thread cannot be used again.
     */
    call(job: ClaimedJob): Promise<string | undefined> {
      const event = eventOf(job);
      current = Promise.withResolvers();
      const { promise } = current;
      port.postMessage({ event, idempotencyKey: idempotencyKeyOf(job) } satisfies ToModule, [event.body.buffer]);
      return promise;
    },
    /** Aborts the signal of the call. */
    abort: () => port.postMessage("abort" satisfies ToModule),
    /** Resolves when the thread has ended. */
    terminate(): Promise<unknown> {
      isTerminated = true;
      return worker.terminate();
    },
  };
}

/** The thread of a module. */
export type ModuleThread = ReturnType<typeof startModuleThread>;

/** An error of a thread that cannot be used again. */
function threadError(message: string, isOutOfDescriptors: boolean): Error {
  return Object.assign(new Error(message), isOutOfDescriptors && { code: "EMFILE" });
}

function endOf(error: unknown): Error {
  const text = describeError(error);
  // The system's code is in the message only.
  return threadError(`the thread of the module ended: ${text}`, /^ERR_WORKER_INIT_FAILED: .*E[MN]FILE/.test(text));
}

function eventOf({
  eventId: id,
  source,
  type,
  contentType,
  payload,
  headers,
  receivedAt,
  countedAttempt: attempt,
}: ClaimedJob) {
  // A copy of its own, which is transferred: the payload may be a part of a larger buffer.
  const body = new Uint8Array(payload);
  const event = { id, source, type, contentType, body, receivedAt, attempt };
  return { ...event, headers: JSON.parse(headers) as Record<string, string> } satisfies ModuleEvent;
}

/** Logs what a thread writes to its standard output and standard error, line by line. */
function logOutput({ stdout, stderr }: Worker, route: string, log: Log): void {
  const logLine = (line: string) => {
    if (line !== "") log.info({ event: "handler_output", route }, line.slice(0, MAX_LINE_LENGTH));
  };
  for (const stream of [stdout, stderr]) {
    let rest = "";
    stream.setEncoding("utf8").on("data", (text: string) => {
      const lines = (rest + text).split("\n");
      // A line without an end is not kept beyond the length that is logged.
      rest = (lines.pop() ?? "").slice(0, MAX_LINE_LENGTH);
      for (const line of lines) logLine(line);
    });
    stream.on("end", () => logLine(rest));
  }
}
