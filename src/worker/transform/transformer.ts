import type { Worker, WorkerOptions } from "node:worker_threads";
import { describeError, systemCode } from "../../errors.ts";
import type { TransformOutput } from "./expression.ts";
import type { TransformAnswer, TransformRequest } from "./messages.ts";

/** Evaluates expressions, each within its bounds of time and memory. */
export interface Transformer {
  /** Rejects with the reason if the expression fails or is too costly, and when `signal` aborts. */
  run(request: TransformRequest, signal: AbortSignal): Promise<TransformOutput>;
  /** Ends the threads. No expression is running. */
  close(): Promise<void>;
}

/** Bounds of an expression. */
const TIMEOUT_MS = 1000;
const MEMORY_MB = 64;
const MAX_THREADS = 2;
// A thread without work is ended after this time.
const IDLE_MS = 30_000;

/** Creates a transformer. `startThread` starts a thread with the entry `transform/thread.ts`. */
export function createTransformer(
  startThread: (options: WorkerOptions) => Worker,
  { timeoutMs = TIMEOUT_MS, memoryMb = MEMORY_MB } = {},
): Transformer {
  const idle = new Map<TransformThread, NodeJS.Timeout>();
  const waiting: (() => void)[] = [];
  let running = 0;

  /** Waits for one of the places for threads. */
  async function enter(): Promise<void> {
    if (running < MAX_THREADS) running++;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  }

  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else running--;
  }

  function take(): TransformThread {
    const thread = [...idle.keys()].at(-1) ?? startTransformThread(startThread, memoryMb);
    clearTimeout(idle.get(thread));
    idle.delete(thread);
    return thread;
  }

  function keep(thread: TransformThread): void {
    const end = () => {
      idle.delete(thread);
      void thread.terminate();
    };
    idle.set(thread, setTimeout(end, IDLE_MS).unref());
  }

  return {
    async run(request, signal) {
      await enter();
      try {
        signal.throwIfAborted();
        const thread = take();
        const answer = await thread.call(request, timeoutMs, signal);
        keep(thread);
        if ("error" in answer) throw new Error(answer.error);
        return answer;
      } finally {
        leave();
      }
    },
    async close() {
      const threads = [...idle.keys()];
      for (const thread of threads) clearTimeout(idle.get(thread));
      idle.clear();
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}

interface TransformThread {
  /** Rejects if the thread cannot be used again. It is ended then. */
  call(request: TransformRequest, timeoutMs: number, signal: AbortSignal): Promise<Exclude<TransformAnswer, "ready">>;
  terminate(): Promise<unknown>;
}

function startTransformThread(startThread: (options: WorkerOptions) => Worker, memoryMb: number): TransformThread {
  const worker = startThread({
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 8 },
    env: {},
  });
  worker.unref();
  const ready = Promise.withResolvers<void>();
  let current = Promise.withResolvers<Exclude<TransformAnswer, "ready">>();
  let hasEnded = false;
  worker.on("message", (answer: TransformAnswer) => {
    if (answer === "ready") ready.resolve();
    else current.resolve(answer);
  });
  const fail = (error: Error) => {
    hasEnded = true;
    ready.reject(error);
    current.reject(error);
  };
  worker.on("error", (error) => {
    const isMemory = systemCode(error) === "ERR_WORKER_OUT_OF_MEMORY";
    fail(new Error(isMemory ? `the expression takes over ${memoryMb} MiB` : describeError(error)));
  });
  worker.on("exit", () => fail(new Error("the thread of transformations has ended")));
  // They are awaited by a call, which may be over.
  ready.promise.catch(() => {});

  return {
    async call(request, timeoutMs, signal) {
      current = Promise.withResolvers();
      current.promise.catch(() => {});
      const { reject } = current;
      const onAbort = () => fail(signal.reason as Error);
      let timer: NodeJS.Timeout | undefined;
      signal.addEventListener("abort", onAbort);
      worker.ref();
      try {
        await ready.promise;
        if (hasEnded) throw new Error("the thread of transformations has ended");
        // The time to start the thread does not count.
        timer = setTimeout(() => reject(new Error(`the expression takes over ${timeoutMs} ms`)), timeoutMs);
        worker.postMessage(request);
        const answer = await current.promise;
        worker.unref();
        return answer;
      } catch (error) {
        await worker.terminate();
        throw error;
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
      }
    },
    terminate: () => worker.terminate(),
  };
}
