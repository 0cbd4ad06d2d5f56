import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import type { ClaimedJob } from "../../events/job.ts";
import type { Answered, Handler } from "../handler.ts";
import { FunctionError, type ModuleThread, type ModuleTools, startModuleThread } from "./module-client.ts";

// A thread without work is ended after this time.
const IDLE_MS = 30_000;
// After its signal has aborted, a function may clean up for this long. Then its thread is ended.
const ABORT_GRACE_MS = 500;

/**
 * Calls the function of a module for each event. Each call has a thread to itself, so that a call that hangs can be
 * ended. A thread is used again for the next call; the module is loaded once in each.
 */
export function createModuleHandler(
  module: { file: string; route: string },
  tools: ModuleTools,
  { idleMs = IDLE_MS } = {},
): Handler {
  /** The threads without work, with the timers that end them. The newest is used first. */
  const idle = new Map<ModuleThread, NodeJS.Timeout>();

  function start(): ModuleThread {
    const thread = startModuleThread(module, tools, () => forget(thread));
    return thread;
  }

  function take(): ModuleThread {
    const thread = [...idle.keys()].at(-1) ?? start();
    forget(thread);
    return thread;
  }

  function keep(thread: ModuleThread): void {
    const end = () => {
      // At once: until it has ended, a call could take it.
      forget(thread);
      void thread.terminate();
    };
    idle.set(thread, setTimeout(end, idleMs).unref());
  }

  function forget(thread: ModuleThread): void {
    clearTimeout(idle.get(thread));
    idle.delete(thread);
  }

  async function run(job: ClaimedJob, signal: AbortSignal): Promise<Answered> {
    const thread = take();
    signal.addEventListener("abort", thread.abort);
    try {
      const call = thread.call(job);
      const aborted = once(signal, "abort").then(() => delay(ABORT_GRACE_MS));
      await Promise.race([call, aborted]);
      signal.throwIfAborted();
      keep(thread);
      return { response: await call };
    } catch (error) {
      if (error instanceof FunctionError && !signal.aborted) keep(thread);
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
    async close() {
      const threads = [...idle.keys()];
      for (const thread of threads) forget(thread);
      await Promise.all(threads.map((thread) => thread.terminate()));
    },
  };
}
