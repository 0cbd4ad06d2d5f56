import { Worker } from "node:worker_threads";

/**
 * What depends on how this copy of the program is packaged: here as a checkout with its `node_modules`.
 * The single binary has `binary/packaging.ts` in this file's place.
 */
export function startStorageThread(workerData: object): Worker {
  return new Worker(new URL("./storage/thread.ts", import.meta.url), { workerData });
}
