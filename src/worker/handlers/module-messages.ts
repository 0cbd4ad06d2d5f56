import type { MessagePort } from "node:worker_threads";

/** What the thread of a module is started with. */
export interface ModuleThreadData {
  /** The absolute path of the module. */
  file: string;
  /** Carries the messages. The module may use `parentPort` for its own. */
  port: MessagePort;
}

/** An event as a module's function gets it, but for what its thread adds. */
export interface ModuleEvent {
  id: string;
  source: string;
  type: string;
  contentType: string;
  body: Uint8Array<ArrayBuffer>;
  headers: Record<string, string>;
  /** Unix milliseconds. */
  receivedAt: number;
  attempt: number;
}

/** To the thread: run the function, or abort the signal of the run. */
export type ToModule = { event: ModuleEvent; idempotencyKey: string } | "abort";

/** Levels of a module's log. */
export const MODULE_LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** A line for the log. The run that wrote it may have ended. `fields` is JSON. */
interface ModuleLogLine {
  log: (typeof MODULE_LOG_LEVELS)[number];
  message: string;
  fields: string | undefined;
  source: string;
  eventId: string;
}

/** From the thread: a line for the log, or how the run ended. */
export type FromModule =
  | ModuleLogLine
  | { response: string | undefined }
  /** The function failed. */
  | { error: string }
  /** A module that could not be loaded is loaded again in another thread only. */
  | { loadError: string; isOutOfDescriptors: boolean };
