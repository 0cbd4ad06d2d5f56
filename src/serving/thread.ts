import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { openServerAuth } from "../auth/open.ts";
import type { Settings } from "../config/settings.ts";
import { keepShapeOfTicks } from "../garbage-collection.ts";
import { createLog, writeEachTurn } from "../log.ts";
import { joinStorage } from "../storage/join.ts";
import { answerCalls } from "../threads/answer-calls.ts";
import { createRemote } from "../threads/remote.ts";
import { createHttpLoop } from "./loop.ts";
import { createSignals } from "./signals.ts";

/** What an HTTP thread is started with. */
export interface HttpThreadData {
  /** Counts from 1. */
  thread: number;
  settings: Settings;
  /** The memory of the signals. */
  signals: SharedArrayBuffer;
  /** Leads to the main thread, which answers calls of `shared`. */
  main: MessagePort;
  /** Takes lines of the log to the main thread. */
  lines: MessagePort;
  /** Leads to the storage thread. */
  storage: MessagePort;
}

/** Runs in an HTTP thread: one event loop with a listener, an intake and readers of its own. */
async function run(port: MessagePort, data: HttpThreadData): Promise<void> {
  const { thread, settings } = data;
  const main = createRemote(data.main);
  // One thread writes all lines: two that write to one pipe would mix them when it is full.
  const output = writeEachTurn({ write: (lines) => data.lines.postMessage(lines) });
  const log = createLog(settings.LOG_LEVEL, output, { thread });
  const storage = joinStorage(settings.DATA_DIR, data.storage);
  const auth = await openServerAuth(settings, storage, log);
  const loop = createHttpLoop({
    settings,
    log,
    events: storage.events,
    sessions: auth.sessions,
    shared: {
      login: (...args) => main.call("shared", "login", args),
      renderMetrics: () => main.call("shared", "renderMetrics", []),
      onStored: () => void main.call("shared", "onStored", []),
    },
    signals: createSignals(data.signals),
    loop: thread,
  });
  answerCalls(
    {
      loop: {
        ...loop,
        async stop(deadlineMs: number) {
          await loop.stop(deadlineMs);
          log.flush();
          auth.close();
          storage.close();
        },
      },
      storage: { use: storage.use },
    },
    port,
  );
}

if (!parentPort) throw new Error("this file is the HTTP threads'");
keepShapeOfTicks();
void run(parentPort, workerData as HttpThreadData);
