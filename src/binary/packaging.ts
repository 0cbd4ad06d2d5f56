import { Worker } from "node:worker_threads";
import { readAsset } from "./assets.ts";

export function startStorageThread(workerData: object): Worker {
  return new Worker(readAsset("thread.cjs").toString("utf8"), { eval: true, workerData });
}
