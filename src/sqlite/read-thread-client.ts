import { callThread, type RpcClient } from "../lib/thread-rpc.ts";
import type { ReadServices, ReadThreadData } from "./read-thread.ts";
import type { StartThread } from "./thread-client.ts";

/** Calls the reading thread. */
export interface ReadThread extends RpcClient<ReadServices> {
  /** Ends it, with the reads that run. */
  close(): Promise<void>;
}

/**
 * Starts the thread with the entry `sqlite/read-thread.ts` at the first call, because most servers never list events.
 */
export function createReadThread(startThread: StartThread, data: ReadThreadData): ReadThread {
  let running: { client: RpcClient<ReadServices>; end(): Promise<unknown> } | undefined;

  function start(): RpcClient<ReadServices> {
    const worker = startThread({ workerData: data });
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
