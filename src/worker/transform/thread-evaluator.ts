import type { Worker, WorkerOptions } from "node:worker_threads";
import { describeError, systemCode } from "../../errors.ts";
import { type Evaluator, failed, notDone } from "./evaluator.ts";
import type { TransformAnswer, TransformRequest } from "./messages.ts";

/** Bounds of an expression. That of time is processor time: on a busy machine an expression gets it later. */
const BOUNDS = { timeoutMs: 1000, memoryMb: 64 };
/** How many times as long an expression may wait for its processor time. */
const MAX_SLOWNESS = 30;

/** Starts a thread with the entry `transform/thread.ts`, which evaluates within bounds. */
export function startThreadEvaluator(
  startThread: (options: WorkerOptions) => Worker,
  { timeoutMs, memoryMb }: typeof BOUNDS = BOUNDS,
): Evaluator {
  const worker = startThread({
    resourceLimits: { maxOldGenerationSizeMb: memoryMb, maxYoungGenerationSizeMb: 8 },
    env: {},
  });
  worker.unref();
  const ready = Promise.withResolvers<void>();
  let current = Promise.withResolvers<Exclude<TransformAnswer, "ready">>();
  let hasEnded = false;
  let isEvaluating = false;
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
    if (!isEvaluating) fail(notDone(`its thread did not start: ${describeError(error)}`));
    else fail(failed(isMemory ? `the expression takes over ${memoryMb} MiB` : "the expression ended its thread"));
  });
  worker.on("exit", () => fail(notDone(ENDED)));
  // They are awaited by a call, which may be over.
  ready.promise.catch(() => {});

  return {
    async call(request: TransformRequest, signal) {
      current = Promise.withResolvers();
      current.promise.catch(() => {});
      const { reject } = current;
      const onAbort = () => fail(signal.reason as Error);
      let stopClock = () => {};
      signal.addEventListener("abort", onAbort);
      worker.ref();
      try {
        await ready.promise;
        if (hasEnded) throw notDone(ENDED);
        isEvaluating = true;
        // The time to start the thread does not count.
        stopClock = startClock(worker, timeoutMs, reject);
        worker.postMessage(request);
        const answer = await current.promise;
        isEvaluating = false;
        worker.unref();
        return answer;
      } catch (error) {
        await worker.terminate();
        throw error;
      } finally {
        stopClock();
        signal.removeEventListener("abort", onAbort);
      }
    },
    terminate: () => worker.terminate(),
  };
}

const ENDED = "its thread has ended";

/** Tells when a thread has had its processor time, counted from now, or has waited too long for it. */
function startClock(worker: Worker, boundMs: number, onOver: (error: Error) => void): () => void {
  const before = worker.cpuUsage();
  let timer: NodeJS.Timeout | undefined;
  let isStopped = false;

  async function look(): Promise<void> {
    const { user, system } = await worker.cpuUsage(await before);
    const leftMs = boundMs - (user + system) / 1000;
    if (leftMs <= 0) onOver(failed(`the expression takes over ${boundMs} ms`));
    else if (!isStopped) wait(leftMs);
  }
  // A thread that has ended has no usage, and has rejected the call.
  const wait = (ms: number) => {
    timer = setTimeout(() => look().catch(() => {}), Math.ceil(ms));
  };

  before.catch(() => {});
  wait(boundMs);
  const limit = setTimeout(() => onOver(notDone("the machine was too busy")), MAX_SLOWNESS * boundMs);
  return () => {
    isStopped = true;
    clearTimeout(timer);
    clearTimeout(limit);
  };
}
