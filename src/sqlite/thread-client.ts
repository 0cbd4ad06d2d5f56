import { setTimeout as delay } from "node:timers/promises";
import type { Worker, WorkerOptions } from "node:worker_threads";
import { describeError, OperatorError } from "../errors.ts";
import { callThread, type RpcClient } from "../lib/thread-rpc.ts";
import type { Log } from "../log.ts";
import { DATABASE_FILE } from "./database.ts";
import type { ReadServices, ReadThreadData, StorageServices, StorageThreadData } from "./thread.ts";

/** Starts a thread with the entry `sqlite/thread.ts`. The packaging decides how. */
export type StartThread = (options: WorkerOptions) => Worker;

/** Calls the current storage thread. */
export interface ThreadClient extends RpcClient<StorageServices> {
  /** Ends the thread once its pending calls are done. */
  close(): Promise<void>;
}

// A thread that keeps dying at its start must not keep the process busy.
const RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 5000;

// How often a thread that cannot end yet is asked again.
const END_RETRY_MS = 100;

/**
 * Starts the storage thread, and restarts it when it dies. Its pending calls then fail with `store_unavailable`.
 * Throws {@link OperatorError} when it cannot open the database.
 */
export async function startStorageThread(
  startThread: StartThread,
  data: Omit<StorageThreadData, "role">,
  log: Log,
): Promise<ThreadClient> {
  let closing = false;
  let restartDelayMs = RESTART_DELAY_MS;
  let thread = start();

  function start() {
    const worker = startThread({ workerData: { role: "storage", ...data } satisfies StorageThreadData });
    const client = callThread<StorageServices>(worker, "the storage thread");
    const ready = client.call("thread", "ready", []);
    ready.then(
      () => {
        restartDelayMs = RESTART_DELAY_MS;
      },
      () => {},
    );
    void client.died.then(restart);
    return { ...client, ready, terminate: () => worker.terminate() };
  }

  function restart(error: Error): void {
    if (closing) return;
    const line = { event: "storage_thread_died" as const, error: describeError(error) };
    log.error(line, "the storage thread died and will be restarted");
    setTimeout(() => {
      if (!closing) thread = start();
    }, restartDelayMs).unref();
    restartDelayMs = Math.min(2 * restartDelayMs, MAX_RESTART_DELAY_MS);
  }

  /** Asks the thread to end. Returns whether it has. */
  async function tryToEnd(): Promise<boolean> {
    const ended = thread.died.then(() => true);
    try {
      await thread.call("thread", "close", []);
      return ended;
    } catch {
      return Promise.race([ended, delay(END_RETRY_MS, false)]);
    }
  }

  try {
    await thread.ready;
  } catch (error) {
    closing = true;
    await thread.terminate();
    throw new OperatorError(
      `DATA_DIR/${DATABASE_FILE} cannot be written now (${describeError(error)}): end the program that locks it, or free disk space`,
      1,
    );
  }

  return {
    call: (...args) => thread.call(...args),
    async close() {
      closing = true;
      // The thread cannot end while another program locks the database.
      while (!(await tryToEnd()));
    },
  };
}

/** Calls the reading thread. */
export interface ReadThread extends RpcClient<ReadServices> {
  /** Ends it, with the reads that run. */
  close(): Promise<void>;
}

/** Starts the reading thread at the first call, because most servers never list events. */
export function createReadThread(startThread: StartThread, data: Omit<ReadThreadData, "role">): ReadThread {
  let running: { client: RpcClient<ReadServices>; end(): Promise<unknown> } | undefined;

  function start(): RpcClient<ReadServices> {
    const worker = startThread({ workerData: { role: "reading", ...data } satisfies ReadThreadData });
    const client = callThread<ReadServices>(worker, "the reading thread");
    running = { client, end: () => worker.terminate() };
    // The next call starts another one.
    void client.died.then(() => {
      running = undefined;
    });
    return client;
  }

  return {
    call: (...args) => (running?.client ?? start()).call(...args),
    async close() {
      await running?.end();
    },
  };
}
