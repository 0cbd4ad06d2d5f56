import { join } from "node:path";
import { Worker, type WorkerOptions } from "node:worker_threads";
import type { Fault } from "../errors.ts";
import { type Component, productionComponents } from "./licences.ts";

const SRC = join(import.meta.dirname, "..");

/** The entries of the process's threads, below `src`. */
export const THREADS = { storage: "sqlite/thread.ts" };

/**
 * What depends on how this copy of the program is packaged: here as a checkout with its `node_modules`.
 * The single binary has `platform/binary.ts` in this file's place.
 */
export function startThread(name: keyof typeof THREADS, options: WorkerOptions): Worker {
  return new Worker(join(SRC, THREADS[name]), options);
}

/** The program that a person calls, an absolute path. */
export const COMMAND = join(SRC, "../bin/authserve");

/** Where the native add-ons are, and what is wrong with them. */
export interface AddonReport {
  place: string;
  faults: Fault[];
}

/** In a checkout npm has compared them with the lock file. */
export function reportAddons(): AddonReport {
  return { place: "node_modules", faults: [] };
}

/** What the program is made of, with licences. */
export function readComponents(): Component[] {
  return productionComponents(join(SRC, ".."));
}
