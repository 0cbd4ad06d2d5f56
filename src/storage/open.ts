import { setTimeout as delay } from "node:timers/promises";
import { MessageChannel, type MessagePort } from "node:worker_threads";
import { describeError, OperatorError } from "../errors.ts";
import { startThread } from "../packaging.ts";
import { type BrokenLog, DATABASE_FILE, type FileId, fileIdOf, openDatabase } from "../sqlite/database.ts";
import { type RemoteThread, remoteThread } from "../threads/remote-thread.ts";
import { type Stores, storesBehind } from "./proxies.ts";
import type { StorageThreadData } from "./thread.ts";

/** The stores of a data directory and the thread that writes them. */
export interface Storage extends Stores {
  /** Which database it is. */
  file: FileId;
  /**
   * Makes a port to the storage thread, for another thread to write through. `onReplaced` gets the port to take
   * instead whenever the storage thread has died and been started again.
   */
  connect(onReplaced: (port: MessagePort) => void): MessagePort;
  close(): Promise<void>;
}

/** Where the storage is, and who is told of its thread. */
export interface StorageOptions {
  dataDir: string;
  /** Told when the storage thread has died and a new one is being started. */
  onThreadDeath: (error: Error) => void;
  /** Told when the log of the database is damaged in its middle. */
  onBrokenLog?: (log: BrokenLog) => void;
}

// A thread that dies at once, again and again, must not keep the process busy.
const RESTART_DELAY_MS = 200;
const MAX_RESTART_DELAY_MS = 5000;

// A thread that cannot end now is told again at this pace.
const END_RETRY_MS = 100;

/**
 * Opens the stores of a data directory with their writes on a thread of their own, so that a commit never holds up an
 * HTTP thread. Reads that every request needs (sessions, throttle) stay on this thread, on a connection of their own.
 * When the thread dies, what is under way fails with `store_unavailable`, and a new thread takes over.
 */
export async function openStorage({ dataDir, onThreadDeath, onBrokenLog }: StorageOptions): Promise<Storage> {
  const reader = openDatabase(dataDir, { checked: true, ...(onBrokenLog && { onBrokenLog }) });
  const file = fileIdOf(reader);
  const connected: ((port: MessagePort) => void)[] = [];
  let closing = false;
  let restartDelayMs = RESTART_DELAY_MS;
  let thread: StorageThread;

  function start(): StorageThread {
    const started = startStorageThread({ dataDir, file });
    started.ready.then(
      () => {
        restartDelayMs = RESTART_DELAY_MS;
      },
      () => {},
    );
    started.died.then((error) => {
      if (closing) return;
      onThreadDeath(error);
      setTimeout(() => {
        if (closing) return;
        thread = start();
        for (const onReplaced of connected) onReplaced(newPort());
      }, restartDelayMs).unref();
      restartDelayMs = Math.min(2 * restartDelayMs, MAX_RESTART_DELAY_MS);
    });
    return started;
  }

  function newPort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    thread.ports.postMessage(port2, [port2]);
    return port1;
  }
  thread = start();
  try {
    await thread.ready;
  } catch (error) {
    closing = true;
    await thread.terminate();
    reader.close();
    throw new OperatorError(
      `DATA_DIR/${DATABASE_FILE} cannot be written now (${describeError(error)}): end what holds it, or make space`,
      1,
    );
  }

  return {
    ...storesBehind(() => thread.remote, reader),
    file,
    connect(onReplaced) {
      connected.push(onReplaced);
      return newPort();
    },
    async close() {
      closing = true;
      const ended = thread.died.then(() => true);
      const tryToEnd = () =>
        thread.remote.call("thread", "close", []).then(
          () => ended,
          () => Promise.race([ended, delay(END_RETRY_MS, false)]),
        );
      // While another program holds the database, the thread cannot come to its end.
      while (!(await tryToEnd()));
      reader.close();
    },
  };
}

interface StorageThread extends RemoteThread {
  /** Takes ports that the thread is to answer, too. */
  ports: MessagePort;
  /** Resolves when the thread has opened the database; rejects when it dies before. */
  ready: Promise<void>;
  terminate(): Promise<unknown>;
}

function startStorageThread(data: Omit<StorageThreadData, "ports">): StorageThread {
  const { port1, port2 } = new MessageChannel();
  const workerData: StorageThreadData = { ...data, ports: port2 };
  const worker = startThread("storage", { workerData, transferList: [port2] });
  const thread = remoteThread(worker, "the storage thread");
  return {
    ...thread,
    ports: port1,
    ready: thread.remote.call("thread", "ready", []),
    terminate: () => worker.terminate(),
  };
}
