import type { Worker } from "node:worker_threads";
import type { Cleanup } from "./temp-dir.ts";

/** The threads that this process starts until the test ends, in order. */
export function watchThreads(context: Cleanup): Worker[] {
  const threads: Worker[] = [];
  const onWorker = (thread: Worker) => threads.push(thread);
  process.on("worker", onWorker);
  context.after(() => void process.off("worker", onWorker));
  return threads;
}
