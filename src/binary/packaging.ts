import { Worker } from "node:worker_threads";
import type { Component } from "../licenses.ts";
import { readAsset } from "./assets.ts";

export { reportAddons } from "./addons.ts";

export const COMMAND = process.execPath;

export function startStorageThread(workerData: object): Worker {
  return new Worker(readAsset("thread.cjs").toString("utf8"), { eval: true, workerData });
}

export function readComponents(): Component[] {
  return JSON.parse(readAsset("licenses.json").toString("utf8")) as Component[];
}
