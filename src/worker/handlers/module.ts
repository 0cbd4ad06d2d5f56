import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ClaimedJob } from "../../events/job.ts";
import type { Answered, Handler } from "../handler.ts";
import { createIdleThreads } from "../idle-threads.ts";
import { FunctionError, type ModuleThread, type ModuleTools, startModuleThread } from "./module-client.ts";

// After its signal has aborted, a function may clean up for this long. Then its thread is ended.
const ABORT_GRACE_MS = 500;

/**
 * Calls the function of a module for each event. Each call has a thread to itself, so that a call that hangs can be
 * ended. A thread is used again for the next call; the module is loaded once in each.
 */
export function createModuleHandler(
  module: { file: string; route: string },
  tools: ModuleTools,
  { idleMs }: { idleMs?: number } = {},
): Handler {
  const threads = createIdleThreads(() => {
    const thread: ModuleThread = startModuleThread(module, tools, () => threads.forget(thread));
    return thread;
  }, idleMs);

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<Answered> {
    const thread = threads.take();
    signal.addEventListener("abort", thread.abort);
    try {
      const call = thread.call(job);
      const aborted = once(signal, "abort").then(() => delay(ABORT_GRACE_MS));
      await Promise.race([call, aborted]);
      signal.throwIfAborted();
      threads.keep(thread);
      return { response: await call };
    } catch (error) {
      if (error instanceof FunctionError && !signal.aborted) threads.keep(thread);
      else await thread.terminate();
      throw error;
    } finally {
      signal.removeEventListener("abort", thread.abort);
    }
  }

  return {
    run,
    target: null,
    endsWithSignal: true,
    close: threads.close,
  };
}
