/** What the thread of a module is started with. */
export interface ModuleThreadData {
  /** The absolute path of the module. */
  file: string;
}

/** An event as a module's function gets it, but for what its thread adds. */
export interface ModuleEvent {
  id: string;
  source: string;
  type: string;
  contentType: string;
  body: Uint8Array;
  headers: Record<string, string>;
  /** Unix milliseconds. */
  receivedAt: number;
  attempt: number;
}

/** To the thread: run the function, or abort the signal of the run. */
export type ToModule = { event: ModuleEvent; idempotencyKey: string } | "abort";

/** Levels of a module's log. */
export const MODULE_LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** From the thread: a line for the log, or how the run ended. */
export type FromModule =
  | { log: (typeof MODULE_LOG_LEVELS)[number]; message: string; fields: string | undefined }
  | { response: string | undefined }
  /** A module that could not be loaded is loaded again in another thread only. */
  | { error: string; isLoaded: boolean };
