import type { Worker } from "node:worker_threads";
import { createRemote, type Remote } from "./remote.ts";

/** A thread of this process that answers calls. */
export interface RemoteThread {
  remote: Remote;
  /** Resolves with the reason when the thread has ended. */
  died: Promise<Error>;
}

/** Speaks to a thread for as long as it lives; what is under way when it ends fails with `store_unavailable`. */
export function remoteThread(worker: Worker, name: string): RemoteThread {
  const remote = createRemote(worker);
  const died = new Promise<Error>((resolve) => {
    let reason = new Error(`${name} ended`);
    worker.on("error", (error) => {
      reason = error as Error;
    });
    worker.on("exit", () => {
      remote.fail(reason);
      resolve(reason);
    });
  });
  return { remote, died };
}
