import { MessageChannel } from "node:worker_threads";
import type { SessionStore } from "../auth/sessions/store.ts";
import type { Settings } from "../config/settings.ts";
import { describeError, OperatorError } from "../errors.ts";
import { findPort } from "../http/listen.ts";
import type { Log, LogOutput } from "../log.ts";
import type { MetricsSnapshot } from "../metrics.ts";
import { startThread } from "../packaging.ts";
import type { Storage } from "../storage/open.ts";
import { answerCalls } from "../threads/answer-calls.ts";
import { type RemoteThread, remoteThread } from "../threads/remote-thread.ts";
import { hostOf, tlsFilesOf } from "./endpoint.ts";
import type { Shared } from "./loop.ts";
import type { Signals } from "./signals.ts";
import type { HttpThreadData } from "./thread.ts";

/** The event loops that serve HTTP: one in this thread, or several in threads of their own. */
export interface HttpServing {
  port: number;
  /** What each loop has counted. */
  snapshots(): Promise<MetricsSnapshot[]>;
  /** Resolves when a loop has died: the process is to be stopped. */
  failed: Promise<void>;
  /** Answers what is in flight until the deadline. Throws `OperatorError` when a loop has died. */
  stop(deadlineMs: number): Promise<void>;
}

export interface ServingParts {
  settings: Settings;
  log: Log;
  /** Where the log's lines go, those of other threads too. */
  output: LogOutput;
  storage: Storage;
  sessions: SessionStore;
  shared: Shared;
  signals: Signals;
}

interface HttpThread extends RemoteThread {
  terminate(): Promise<unknown>;
}

/** Starts `HTTP_THREADS` threads that listen on one port. Throws {@link OperatorError} when they cannot. */
export async function startHttpThreads({ settings, log, output, ...parts }: ServingParts): Promise<HttpServing> {
  tlsFilesOf(settings)?.read();
  const port = await findPort({ port: settings.PORT, host: hostOf(settings) });
  const threads = Array.from({ length: settings.HTTP_THREADS }, (_, index) => start(index + 1));
  const terminate = () => Promise.all(threads.map((thread) => thread.terminate()));
  try {
    await Promise.all(threads.map(({ remote }) => remote.call("loop", "listen", [port])));
  } catch (error) {
    await terminate();
    throw startFailure(error as Error);
  }

  const failed = Promise.withResolvers<void>();
  let hasFailed = false;
  let stopped = false;
  for (const [index, { died }] of threads.entries()) {
    void died.then((error) => {
      if (stopped) return;
      hasFailed = true;
      const line = {
        event: "http_thread_died" as const,
        thread: index + 1,
        error: describeError(error),
        stack: error.stack,
      };
      log.error(line, "an HTTP thread died: the process ends");
      failed.resolve();
    });
  }

  function start(thread: number): HttpThread {
    const main = new MessageChannel();
    answerCalls({ shared: parts.shared }, main.port1);
    const lines = new MessageChannel();
    lines.port1.on("message", (text: string) => void output.write(text));
    const storage = parts.storage.connect((replacement) => {
      started.remote.call("storage", "use", [replacement], { transfer: [replacement] }).catch(() => {});
    });
    const workerData: HttpThreadData = {
      thread,
      settings,
      signals: parts.signals.memory,
      main: main.port2,
      lines: lines.port2,
      storage,
    };
    const worker = startThread("http", { workerData, transferList: [main.port2, lines.port2, storage] });
    const started = remoteThread(worker, "an HTTP thread");
    return { ...started, terminate: () => worker.terminate() };
  }

  return {
    port,
    snapshots: () => Promise.all(threads.map(({ remote }) => remote.call<MetricsSnapshot>("loop", "snapshot", []))),
    failed: failed.promise,
    async stop(deadlineMs) {
      // A thread that has died cannot be asked; the others finish what they have begun.
      await Promise.allSettled(threads.map(({ remote }) => remote.call("loop", "stop", [deadlineMs])));
      stopped = true;
      await terminate();
      if (hasFailed) throw new OperatorError("An HTTP thread died: what was acknowledged is on disk", 1);
    },
  };
}

/** A thread that died says why in the cause; one that could not listen speaks to the operator itself. */
function startFailure({ cause, message }: Error): OperatorError {
  if (cause === undefined) return new OperatorError(message);
  return new OperatorError(`An HTTP thread died at its start: ${describeError(cause)}`, 1);
}
