import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";
import type { Fault } from "../errors.ts";
import { type Component, productionComponents } from "./licences.ts";
import { type ManualPage, readPages } from "./manual.ts";
import { EVALUATE, OWN_PROCESS } from "./own-process.ts";
import { bundlePage, bundlePasskeyScript, type PageFiles } from "./page-bundle.ts";
import { renderSite, type SiteFiles } from "./site/render.ts";

const SRC = join(import.meta.dirname, "..");
const ROOT = join(SRC, "..");

/** The entry file of each thread, below `src`. */
export const THREADS = {
  storage: "sqlite/thread.ts",
  module: "worker/handlers/module-thread.ts",
  transform: "worker/transform/thread.ts",
};

/**
 * Starts a thread. This module is the one for a checkout with `node_modules`. The build of the single binary replaces
 * it with `platform/binary.ts`.
 */
export function startThread(name: keyof typeof THREADS, options: WorkerOptions): Worker {
  return new Worker(join(SRC, THREADS[name]), options);
}

/** Starts the process of transformations, which messages are sent to. It gets no environment. */
export function startEvaluatorProcess(): ChildProcess {
  return spawn(process.execPath, [join(SRC, "cli/main.ts"), EVALUATE], OWN_PROCESS);
}

/** The absolute path of the command. */
export const COMMAND = join(SRC, "../bin/authserve");

/** The location of the native add-ons, and their faults. */
export interface AddonReport {
  place: string;
  faults: Fault[];
}

/** Reports no faults: in a checkout npm has verified the add-ons against the lock file. */
export function reportAddons(): AddonReport {
  return { place: "node_modules", faults: [] };
}

/** Bundles the page, so that a checkout needs no build. */
export function readPage(): Promise<PageFiles> {
  return bundlePage();
}

/** Bundles the script of the pages that offer passkeys. */
export function readPasskeyScript(): Promise<Buffer> {
  return bundlePasskeyScript();
}

/** Reads the documentation of this version. */
export function readManual(): ManualPage[] {
  return readPages(ROOT);
}

let site: Promise<SiteFiles> | undefined;

/** Reads a file of the site of that documentation; null if there is none. It is rendered at the first call. */
export async function readSiteFile(name: string): Promise<Buffer | null> {
  site ??= renderSite(ROOT);
  const files = await site;
  return Object.hasOwn(files, name) ? (files[name] ?? null) : null;
}

/** The packages in the program, with licences. */
export function readComponents(): Component[] {
  return productionComponents(ROOT);
}
