import { type ChildProcess, spawn } from "node:child_process";
import { Worker, type WorkerOptions } from "node:worker_threads";
import { gunzipSync } from "node:zlib";
import { readAsset } from "./assets.ts";
import type { Component } from "./licences.ts";
import type { ManualPage } from "./manual.ts";
import { EVALUATE, OWN_PROCESS } from "./own-process.ts";
import type { PageFiles } from "./page-bundle.ts";

export { reportAddons } from "./addons.ts";

export const COMMAND = process.execPath;

export function startThread(name: string, options: WorkerOptions): Worker {
  return new Worker(readAsset(`${name}-thread.cjs`).toString("utf8"), { ...options, eval: true });
}

export function startEvaluatorProcess(): ChildProcess {
  return spawn(process.execPath, [EVALUATE], OWN_PROCESS);
}

export async function readPage(): Promise<PageFiles> {
  const scripts = { en: readAsset("page.en.js"), es: readAsset("page.es.js") };
  return { scripts, style: readAsset("page.css") };
}

export async function readPasskeyScript(): Promise<Buffer> {
  return readAsset("passkeys.js");
}

const readCompressed = (name: string) => gunzipSync(readAsset(`site/${name}`));

const siteNames = () => JSON.parse(readAsset("site.json").toString("utf8")) as string[];

export function readManual(): ManualPage[] {
  return siteNames()
    .filter((name) => name.endsWith(".md"))
    .map((name) => ({ name: name.slice(0, -".md".length), text: readCompressed(name).toString("utf8") }));
}

export async function readSiteFile(name: string): Promise<Buffer | null> {
  return siteNames().includes(name) ? readCompressed(name) : null;
}

export function readComponents(): Component[] {
  return JSON.parse(readAsset("licenses.json").toString("utf8")) as Component[];
}
