import { callThread, type RpcClient } from "../lib/thread-rpc.ts";
import type { StartThread } from "./thread-client.ts";

/** Calls the reading thread. */
export interface ReadThread extends RpcClient {
  /** Ends it, with the reads that run. */
  close(): Promise<void>;
}

/** Starts the thread with the entry `sqlite/read-thread.ts` at the first call, because most servers never list events. */
export function createReadThread(startThread: StartThread, file: string): ReadThread {
  let running: { client: RpcClient; end(): Promise<unknown> } | undefined;

  function start(): RpcClient {
    const worker = startThread({ workerData: file });
    const client = callThread(worker, "the reading thread");
    running = { client, end: () => worker.terminate() };
    // The next call starts another one.
    void client.died.then(() => {
      running = undefined;
    });
    return client;
  }

  return {
    call: (method, args) => (running?.client ?? start()).call(method, args),
    async close() {
      await running?.end();
    },
  };
}
